//! Replays stored candles through the engine and the simulator.
//!
//! The loop passes venue events and candles to the session, and the session's approved orders to the venue. It contains
//! no trading logic: a live run drives the same session. [`metric`] contains the performance figures of a run.

mod driver;
mod feed;
pub mod metric;
mod run_totals;
mod summary;
pub mod translation;

pub use driver::{Backtest, BacktestError, BacktestSettings, Finished, NullRecorder};
pub use run_totals::{Evidence, RunTotals, SettledFigures};
pub use summary::Summary;
