//! What keeps a backtest from running.

use candlewick_engine::EngineError;
use candlewick_sdk::Series;
use candlewick_simulator::SimulatorError;
use std::io;

/// Why a backtest cannot run, named by the fault.
#[derive(Debug, thiserror::Error)]
pub enum BacktestError {
    /// The bots or the risk settings are wrong.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The simulation settings or the candles are wrong.
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    /// There are no candles of this series.
    #[error("no candles of {series} for bot \"{bot}\"")]
    NoCandles {
        /// What is missing.
        series: Series,
        /// Who needs it.
        bot: String,
    },
    /// A bot uses prices between candles, and there are none finer than its own.
    #[error(
        "bot \"{bot}\" uses prices between candles: give candles finer than {series}, of which {every_ms} ms is a multiple"
    )]
    NoFinerCandles {
        /// The bot's own series.
        series: Series,
        /// Who needs it.
        bot: String,
        /// The pace of prices.
        every_ms: i64,
    },
    /// The journal cannot be written.
    #[error("the journal cannot be written")]
    Journal(#[from] io::Error),
}
