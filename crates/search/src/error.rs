//! Errors of parameter searches and robustness tests.

use candlewick_backtest::BacktestError;
use candlewick_engine::EngineError;
use candlewick_simulator::SimulatorError;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    Backtest(#[from] BacktestError),
    #[error("strategy \"{strategy}\" has no parameter \"{name}\"")]
    UnknownParameter { name: String, strategy: String, known: Vec<String> },
    #[error("parameter {name}{}{given}: {problem}", if given.is_empty() { "" } else { " = " })]
    InvalidValues { name: String, given: String, problem: String },
    #[error("condition \"{text}\": {problem}")]
    InvalidCondition { text: String, problem: String },
    #[error("{problem}")]
    InvalidSearch { problem: String },
    #[error("the strategy's declaration is incorrect: {problem}")]
    DeclarationMismatch { problem: String },
    #[error("{problem}")]
    InvalidWindows { problem: String },
    #[error("{}: {problem}", path.display())]
    OtherSweep { path: PathBuf, problem: String },
    #[error("{}: another sweep is writing this file", path.display())]
    SweepLocked { path: PathBuf },
    #[error("{}: cannot {action} the file", path.display())]
    UnusableFile { path: PathBuf, action: &'static str, source: io::Error },
}

impl SearchError {
    pub(crate) fn invalid_search(problem: impl Into<String>) -> Self {
        Self::InvalidSearch { problem: problem.into() }
    }
}

pub(crate) fn build_thread_pool(threads: NonZeroUsize) -> Result<rayon::ThreadPool, SearchError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build();
    pool.map_err(|error| SearchError::invalid_search(error.to_string()))
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
