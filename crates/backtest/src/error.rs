//! What keeps a backtest or a sweep from running.

use candlewick_engine::EngineError;
use candlewick_sdk::Series;
use candlewick_simulator::SimulatorError;
use std::io;
use std::path::PathBuf;

/// Why a backtest or a sweep cannot run, named by what to mend.
#[derive(Debug, thiserror::Error)]
pub enum BacktestError {
    /// Mend the bots or the risk settings.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Mend the simulation settings or the candles.
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
    /// Name a parameter that the strategy has.
    #[error("strategy \"{strategy}\" has no parameter \"{name}\"")]
    NameParameter {
        /// What was named.
        name: String,
        /// The strategy.
        strategy: String,
        /// What can be named.
        known: Vec<String>,
    },
    /// Change the values of a parameter.
    #[error("parameter {name}{}{given}: {problem}", if given.is_empty() { "" } else { " = " })]
    ChangeParameter {
        /// The parameter.
        name: String,
        /// The values.
        given: String,
        /// What is wrong with them.
        problem: String,
    },
    /// Change a condition.
    #[error("condition \"{text}\": {problem}")]
    ChangeCondition {
        /// As it was given.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Change what is searched, or how.
    #[error("{problem}")]
    ChangeSearch {
        /// What is wrong.
        problem: String,
    },
    /// What a strategy declares of its signals is not what it answers: correct the declaration, or leave it out.
    #[error("the strategy's declaration is wrong: {problem}")]
    DeclarationMismatch {
        /// What is wrong with it.
        problem: String,
    },
    /// Change the lengths of training and test.
    #[error("{problem}")]
    ChangeWindows {
        /// What is wrong.
        problem: String,
    },
    /// Choose another folder.
    #[error("{}: {problem}", path.display())]
    ChooseFolder {
        /// The file in it.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Another process is writing the journal of this sweep: wait until it has ended.
    #[error("{}: another sweep is writing it", path.display())]
    SweepLocked {
        /// The file.
        path: PathBuf,
    },
    /// See that the file can be used.
    #[error("{}: cannot {action} the file", path.display())]
    CheckPath {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why it did not do.
        source: io::Error,
    },
    /// Make room for the journal.
    #[error("the journal cannot be written")]
    Journal(#[from] io::Error),
}
