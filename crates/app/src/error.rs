//! What keeps what was asked for from being done.

use crate::candles::cure_of_history;
use crate::configuration::Problems;
use crate::suggestion::suggest;
use candlewick_backtest::BacktestError;
use candlewick_broker::BrokerError;
use candlewick_engine::EngineError;
use candlewick_history::HistoryError;
use candlewick_journal::JournalError;
use candlewick_records::RecordsError;
use candlewick_runtime::RuntimeError;
use candlewick_runtime::control::ControlError;
use candlewick_sandbox::SandboxError;
use candlewick_simulator::SimulatorError;
use std::error::Error;
use std::fmt::{self, Write as _};

/// What keeps what was asked for from being done. The variants of our own hold a [`Fault`], which says what is wrong and
/// what to do; the others are those of the libraries below, as they came.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// Settings or arguments cannot be used, or contradict each other.
    #[error(transparent)]
    Invalid(Fault),
    /// Candles or files are missing or wrong.
    #[error(transparent)]
    Data(Fault),
    /// The venue refused, or cannot be reached.
    #[error(transparent)]
    Venue(Fault),
    /// A check was not passed.
    #[error(transparent)]
    CheckFailed(Fault),
    /// A rule does not let the run begin.
    #[error(transparent)]
    Forbidden(Fault),
    /// The system, or the program itself, fails.
    #[error(transparent)]
    System(Fault),
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
    /// A backtest or a sweep cannot be made or run.
    #[error(transparent)]
    Backtest(#[from] BacktestError),
    /// The embedded venue cannot be made.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The client of the venue cannot be made, or the venue refuses or cannot be reached.
    #[error(transparent)]
    Broker(#[from] BrokerError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What the journal holds cannot be told.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The run cannot begin or go on.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// An order does not reach a running bot.
    #[error(transparent)]
    Control(#[from] ControlError),
}

/// What is wrong, in a sentence, with its cause and what to do about it.
#[derive(Debug)]
pub struct Fault {
    problem: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    cure: Option<String>,
}

impl Fault {
    /// A fault said in a sentence.
    pub fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), source: None, cure: None }
    }

    /// A fault whose cause is another error.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn cure(mut self, cure: impl Into<String>) -> Self {
        self.cure = Some(cure.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl AppError {
    /// Settings or arguments that cannot be used, said in a sentence.
    pub(crate) fn invalid(problem: impl Into<String>) -> Self {
        Self::Invalid(Fault::new(problem))
    }

    /// Candles or files that cannot be used, said in a sentence.
    pub(crate) fn data(problem: impl Into<String>) -> Self {
        Self::Data(Fault::new(problem))
    }

    /// An error of the system, with what was being done.
    pub(crate) fn system(doing: impl Into<String>, source: impl Error + Send + Sync + 'static) -> Self {
        Self::System(Fault::new(doing).because(source))
    }

    /// Says what to do about it, where it is a fault of our own.
    #[must_use]
    pub(crate) fn help(mut self, cure: impl Into<String>) -> Self {
        if let Some(fault) = self.fault_mut() {
            fault.cure = Some(cure.into());
        }
        self
    }

    /// What to do about it, where that is known here.
    pub fn cure(&self) -> Option<String> {
        match self {
            Self::History(error) => cure_of_history(error),
            Self::Backtest(BacktestError::NameParameter { name, known, .. }) => {
                Some(suggest(name, known.iter().map(String::as_str)))
            }
            Self::Backtest(BacktestError::ChooseFolder { .. }) => Some(
                "give --out another folder; what another program (or the same with other libraries of the system), \
                 other arguments or other candles made is not mixed with this"
                    .to_owned(),
            ),
            _ => self.fault()?.cure.clone(),
        }
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
        if let Some(cure) = self.cure() {
            let _ = write!(text, "\nhelp: {cure}");
        }
        text
    }

    fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Invalid(fault)
            | Self::Data(fault)
            | Self::Venue(fault)
            | Self::CheckFailed(fault)
            | Self::Forbidden(fault)
            | Self::System(fault) => Some(fault),
            _ => None,
        }
    }

    fn fault_mut(&mut self) -> Option<&mut Fault> {
        match self {
            Self::Invalid(fault)
            | Self::Data(fault)
            | Self::Venue(fault)
            | Self::CheckFailed(fault)
            | Self::Forbidden(fault)
            | Self::System(fault) => Some(fault),
            _ => None,
        }
    }
}
