//! Replays stored candles through the engine and the simulator.
//!
//! The loop passes the session the venue's events and the next candle, and passes the venue the
//! orders that the session approved. It contains no trading logic: a live run drives the same
//! session. [`metric`] contains the performance figures of a run.

mod driver;
mod error;
mod feed;
pub mod metric;
mod null_recorder;
mod run_totals;
mod settings;
mod summary;
pub mod translation;

pub use driver::{Backtest, Finished};
pub use error::BacktestError;
pub use null_recorder::NullRecorder;
pub use run_totals::{Evidence, RunTotals, SettledFigures};
pub use settings::BacktestSettings;
pub use summary::Summary;
