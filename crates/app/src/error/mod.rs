//! Errors of the application.

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

#[derive(Debug, thiserror::Error)]
pub enum AppError {
    #[error(transparent)]
    Report(ErrorReport),
    #[error(transparent)]
    Configuration(#[from] Problems),
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    #[error(transparent)]
    Backtest(#[from] BacktestError),
    #[error(transparent)]
    Search(#[from] SearchError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error(transparent)]
    Broker(#[from] BrokerError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Records(#[from] RecordsError),
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    Control(#[from] ControlError),
}

impl AppError {
    pub(crate) fn new(kind: ErrorKind, problem: impl Into<String>) -> Self {
        Self::Report(ErrorReport::new(kind, problem))
    }

    pub(crate) fn invalid(problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, problem)
    }

    pub(crate) fn data(problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::UnusableData, problem)
    }

    pub(crate) fn system(doing: impl Into<String>, source: impl Error + Send + Sync + 'static) -> Self {
        Self::new(ErrorKind::SystemFailed, doing).because(source)
    }

    #[must_use]
    pub(crate) fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        if let Self::Report(report) = &mut self {
            report.source = Some(source.into());
        }
        self
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        if let Self::Report(report) = &mut self {
            report.help = Some(help.into());
        }
        self
    }

    pub fn help_text(&self) -> Option<String> {
        help::help_for(self)
    }

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
