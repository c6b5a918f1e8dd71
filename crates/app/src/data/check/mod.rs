//! What is wrong with candles, and a repair that leaves the original alone.

mod repair;
mod result;
mod target;

pub use repair::{RepairTerms, Repaired, RepairedPlace};
pub use result::{CheckResult, coverage_table};
pub use target::CheckTarget;
