//! What keeps what was asked for from being done.

mod help;
mod report;

pub use report::{ErrorKind, ErrorReport};

use crate::configuration::{Problem, Problems};
use candlewick_backtest::BacktestError;
use candlewick_broker::BrokerError;
use candlewick_engine::EngineError;
use candlewick_history::HistoryError;
use candlewick_journal::JournalError;
use candlewick_records::RecordsError;
use candlewick_runtime::RuntimeError;
use candlewick_runtime::control::ControlError;
use candlewick_sandbox::SandboxError;
use candlewick_search::SearchError;
use candlewick_simulator::SimulatorError;
use std::error::Error;
use std::fmt::Write as _;

/// Why something was not done: an error of this crate's own, or one of a library below, as it came.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// An error of this crate's own; its [`ErrorKind`] says what kind it is.
    #[error(transparent)]
    Report(ErrorReport),
    /// The configuration is wrong, in one place or several.
    #[error(transparent)]
    Configuration(#[from] Problems),
    /// Stored candles cannot be used.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A Session cannot be made.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A simulator cannot be made.
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    /// A backtest cannot be made or run.
    #[error(transparent)]
    Backtest(#[from] BacktestError),
    /// A sweep or a walk-forward cannot be made or run.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The embedded venue cannot be made.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The client of the venue cannot be made, or the venue refuses or cannot be reached.
    #[error(transparent)]
    Broker(#[from] BrokerError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What the journal holds cannot be read.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The run cannot begin or go on.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// An order does not reach a running bot.
    #[error(transparent)]
    Control(#[from] ControlError),
}

impl AppError {
    /// An error of this kind, said in a sentence.
    pub(crate) fn new(kind: ErrorKind, problem: impl Into<String>) -> Self {
        Self::Report(ErrorReport::new(kind, problem))
    }

    /// Settings or arguments that cannot be used, said in a sentence.
    pub(crate) fn invalid(problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, problem)
    }

    /// Candles or files that cannot be used, said in a sentence.
    pub(crate) fn data(problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::UnusableData, problem)
    }

    /// An error of the system, with what was being done.
    pub(crate) fn system(doing: impl Into<String>, source: impl Error + Send + Sync + 'static) -> Self {
        Self::new(ErrorKind::SystemFailed, doing).because(source)
    }

    /// Says which error caused one of this crate's own.
    #[must_use]
    pub(crate) fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        if let Self::Report(report) = &mut self {
            report.source = Some(source.into());
        }
        self
    }

    /// Says what to do about one of this crate's own.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        if let Self::Report(report) = &mut self {
            report.help = Some(help.into());
        }
        self
    }

    /// What to do about it, where that is known.
    pub fn help_text(&self) -> Option<String> {
        help::help_for(self)
    }

    /// What is wrong with its causes, and what to do about it, a line each.
    pub fn text(&self) -> String {
        let mut text = self.to_string();
        let (mut last, mut next) = (text.clone(), self.source());
        while let Some(cause) = next {
            let line = cause.to_string();
            // A cause that only repeats what stands above it says nothing.
            if !last.contains(&line) {
                let _ = write!(text, "\n  cause: {line}");
            }
            (last, next) = (line, cause.source());
        }
        if let Some(help) = self.help_text() {
            let _ = write!(text, "\nhelp: {help}");
        }
        text
    }
}

impl From<Problem> for AppError {
    fn from(problem: Problem) -> Self {
        Problems::from(problem).into()
    }
}
