//! Errors that prevent a backtest from running.

use candlewick_engine::EngineError;
use candlewick_sdk::Series;
use candlewick_simulator::SimulatorError;
use std::io;

#[derive(Debug, thiserror::Error)]
pub enum BacktestError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    #[error("no candles of {series} for bot \"{bot}\"")]
    NoCandles { series: Series, bot: String },
    #[error(
        "bot \"{bot}\" uses prices between candles: give candles finer than {series}, of which {every_ms} ms is a multiple"
    )]
    NoFinerCandles { series: Series, bot: String, every_ms: i64 },
    #[error("the journal cannot be written")]
    Journal(#[from] io::Error),
}
