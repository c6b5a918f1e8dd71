//! What keeps a backtest from running.

use candlewick_engine::EngineError;
use candlewick_sdk::Series;
use candlewick_simulator::SimulatorError;
use std::io;

/// Why a backtest cannot run, named by what to mend.
#[derive(Debug, thiserror::Error)]
pub enum BacktestError {
    /// Mend the bots or the risk settings.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Mend the simulation settings or the candles.
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    /// Give candles of this series.
    #[error("no candles of {series} for bot \"{bot}\"")]
    GiveCandles {
        /// What is missing.
        series: Series,
        /// Who needs it.
        bot: String,
    },
    /// Give finer candles of this series' symbol.
    #[error(
        "bot \"{bot}\" uses prices between candles: give candles finer than {series}, of which {every_ms} ms is a multiple"
    )]
    GiveDetail {
        /// The bot's own series.
        series: Series,
        /// Who needs it.
        bot: String,
        /// The pace of prices.
        every_ms: i64,
    },
    /// Make room for the journal.
    #[error("the journal cannot be written")]
    Journal(#[from] io::Error),
}
