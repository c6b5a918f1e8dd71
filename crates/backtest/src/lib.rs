//! Replays stored candles through the engine and the simulator.
//!
//! A backtest is a loop: hand the Session what the venue has to say by now, hand it the next candle, hand the
//! venue what the Session approved. There is no trading logic here; a live run drives the same Session. [`metric`]
//! holds the figures that a run is judged by.

pub mod bench;
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
