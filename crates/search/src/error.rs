//! What keeps a sweep or a walk-forward from running.

use candlewick_backtest::BacktestError;
use candlewick_engine::EngineError;
use candlewick_simulator::SimulatorError;
use std::io;
use std::path::PathBuf;

/// Why a search cannot run, named by the fault.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A replay cannot run, whatever its parameters.
    #[error(transparent)]
    Backtest(#[from] BacktestError),
    /// The strategy has no such parameter.
    #[error("strategy \"{strategy}\" has no parameter \"{name}\"")]
    UnknownParameter {
        /// What was named.
        name: String,
        /// The strategy.
        strategy: String,
        /// What can be named.
        known: Vec<String>,
    },
    /// A parameter cannot have these values.
    #[error("parameter {name}{}{given}: {problem}", if given.is_empty() { "" } else { " = " })]
    InvalidValues {
        /// The parameter.
        name: String,
        /// The values.
        given: String,
        /// What is wrong with them.
        problem: String,
    },
    /// A condition cannot be read.
    #[error("condition \"{text}\": {problem}")]
    InvalidCondition {
        /// As it was given.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// What is searched, or how, is not possible.
    #[error("{problem}")]
    InvalidSearch {
        /// What is wrong.
        problem: String,
    },
    /// What a strategy declares of its signals is not what it answers: correct the declaration, or leave it out.
    #[error("the strategy's declaration is wrong: {problem}")]
    DeclarationMismatch {
        /// What is wrong with it.
        problem: String,
    },
    /// The lengths of training and test do not fit the candles.
    #[error("{problem}")]
    InvalidWindows {
        /// What is wrong.
        problem: String,
    },
    /// The folder holds another sweep.
    #[error("{}: {problem}", path.display())]
    OtherSweep {
        /// The file in it.
        path: PathBuf,
        /// How it differs.
        problem: String,
    },
    /// Another process is writing the journal of this sweep: wait until it has ended.
    #[error("{}: another sweep is writing it", path.display())]
    SweepLocked {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be used.
    #[error("{}: cannot {action} the file", path.display())]
    UnusableFile {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

impl From<EngineError> for SearchError {
    fn from(error: EngineError) -> Self {
        BacktestError::from(error).into()
    }
}

impl From<SimulatorError> for SearchError {
    fn from(error: SimulatorError) -> Self {
        BacktestError::from(error).into()
    }
}
