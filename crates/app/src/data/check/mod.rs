//! Checks of candles, and repairs that never modify the original.

mod repair;
mod result;
mod target;

pub use repair::{RepairTerms, Repaired, RepairedPlace};
pub use result::{CheckResult, coverage_table};
pub use target::CheckTarget;
