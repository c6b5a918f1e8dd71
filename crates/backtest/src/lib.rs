//! Replays stored candles through the engine and the simulator.
//!
//! The main loop passes venue events and candles to the session, and approved orders to the venue. The loop contains no
//! trading logic, because live runs drive the same session. [`metric`] computes the performance figures.

mod driver;
mod feed;
pub mod metric;
mod run_totals;
mod summary;
pub mod translation;

pub use driver::{Backtest, BacktestError, BacktestResult, BacktestSettings, NullRecorder};
pub use run_totals::{RunTotals, SettledTradeFigures, WinRateEvidence};
pub use summary::Summary;
