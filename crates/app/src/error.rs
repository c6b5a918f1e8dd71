//! Errors of the application: kind, message, causes and hint.

use crate::candles::help_for_history_error;
use crate::configuration::{Problem, Problems};
use crate::journal::journals_in;
use crate::live::WAITING_ADVICE;
use candlewick_backtest::BacktestError;
use candlewick_broker::{BrokerError, COMMON_INTERVALS};
use candlewick_engine::EngineError;
use candlewick_history::HistoryError;
use candlewick_journal::JournalError;
use candlewick_records::RecordsError;
use candlewick_runtime::RuntimeError;
use candlewick_runtime::control::ControlError;
use candlewick_sandbox::SandboxError;
use candlewick_sdk::suggest;
use candlewick_search::SearchError;
use candlewick_simulator::SimulatorError;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

pub(crate) type Result<T, E = AppError> = std::result::Result<T, E>;

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
        Self::Report(ErrorReport { kind, problem: problem.into(), source: None, help: None })
    }

    pub(crate) fn invalid(problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, problem)
    }

    pub(crate) fn data(problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::UnusableData, problem)
    }

    pub(crate) fn system(doing: impl Into<String>, source: impl Error + Send + Sync + 'static) -> Self {
        Self::new(ErrorKind::SystemFailed, doing).with_source(source)
    }

    #[must_use]
    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        if let Self::Report(report) = &mut self {
            report.source = Some(source.into());
        }
        self
    }

    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        if let Self::Report(report) = &mut self {
            report.help = Some(help.into());
        }
        self
    }

    pub fn help_text(&self) -> Option<String> {
        match self {
            Self::Report(report) => report.help.clone(),
            Self::History(error) => help_for_history_error(error),
            Self::Search(error) => help_for_search(error),
            Self::Journal(error) => help_for_journal(error),
            Self::Records(error) => help_for_records(error),
            Self::Runtime(error) => help_for_runtime(error),
            _ => None,
        }
    }

    pub fn text(&self) -> String {
        let mut text = self.to_string();
        let (mut last, mut next) = (text.clone(), self.source());
        while let Some(cause) = next {
            let line = cause.to_string();
            // Skips a cause if the previous line already contains its text.
            if !last.contains(&line) {
                let _ = write!(text, "\n  cause: {line}");
            }
            (last, next) = (line, cause.source());
        }
        if let Some(help) = self.help_text() {
            let _ = write!(text, "\nhint: {help}");
        }
        text
    }
}

impl From<Problem> for AppError {
    fn from(problem: Problem) -> Self {
        Problems::from(problem).into()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    InvalidArgument,
    UnusableData,
    VenueFailed,
    RealMoneyRefused,
    OrderRefused,
    OrderNotConfirmed,
    SystemFailed,
}

#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct ErrorReport {
    pub kind: ErrorKind,
    problem: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    help: Option<String>,
}

fn help_for_search(error: &SearchError) -> Option<String> {
    match error {
        SearchError::UnknownParameter { name, known, .. } => {
            Some(suggest(name, known.iter().map(String::as_str)))
        }
        SearchError::OtherSweep { .. } => Some(
            "choose another folder with --out; this folder has results of a different program, or of different arguments or candles"
                .to_owned(),
        ),
        _ => None,
    }
}

fn help_for_records(error: &RecordsError) -> Option<String> {
    match error {
        RecordsError::Journal(error) => help_for_journal(error),
        RecordsError::Compacted { .. } => {
            Some("name the original, uncompacted journal with --journal".to_owned())
        }
        RecordsError::NoRun => Some("start a run with `candlewick live`".to_owned()),
        RecordsError::UnreadableEntry { .. } => Some(
            "verify the journal's hash chain with `candlewick doctor`, and its decisions with `candlewick parity`"
                .to_owned(),
        ),
        RecordsError::UnknownTrade { .. } => Some("list all trades with `candlewick trades`".to_owned()),
        RecordsError::UnknownName { name, known, .. } => {
            Some(suggest(name, known.iter().map(String::as_str)))
        }
        RecordsError::UnknownSymbol { symbol, known, .. } => {
            Some(suggest(symbol.as_str(), known.iter().map(String::as_str)))
        }
        _ => None,
    }
}

fn help_for_journal(error: &JournalError) -> Option<String> {
    match error {
        JournalError::BrokenChain { .. } => Some(
            "do not trust figures after this entry. Restore a copy from `candlewick journal backup`, or name another \
             journal with --journal once no trade is open. `candlewick journal verify` checks the whole journal"
                .to_owned(),
        ),
        JournalError::NotWritable { path, .. } => Some(format!(
            "make the folder {} writable for this user, or set journal.url to a file in another folder",
            path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).display()
        )),
        JournalError::HeldBy { .. } => Some(
            "stop the run that `candlewick status` shows, or name another journal with --journal".to_owned(),
        ),
        JournalError::FileGone { .. } => Some(
            "restore the file or a backup before the next start. If you cannot, check the venue for open trades"
                .to_owned(),
        ),
        JournalError::NotFound { .. } => Some(match journals_in(Path::new(".")).as_slice() {
            [] => "create a journal with `candlewick live --sandbox --journal run.db`, and name it with \
                   --journal run.db. Sandbox runs without --journal are not recorded"
                .to_owned(),
            journals => format!("in this folder: {}", journals.join(", ")),
        }),
        _ => None,
    }
}

fn help_for_runtime(error: &RuntimeError) -> Option<String> {
    match error {
        RuntimeError::Venue { source, .. } if source.is_temporary() => {
            Some(format!("{}; {WAITING_ADVICE}", help_for_venue(source)))
        }
        RuntimeError::Venue { source, .. } => Some(help_for_venue(source).to_owned()),
        RuntimeError::UnreadableEntry { .. } => {
            Some("verify the journal with `candlewick doctor`, or name another journal with --journal".to_owned())
        }
        RuntimeError::WrongSnapshot { .. } => {
            Some("the other entries are intact. Disable snapshots with runtime.snapshot_every = 0".to_owned())
        }
        RuntimeError::WrongRow { .. } => Some(
            "the entries are intact. Rebuild the tables with `candlewick journal project --rebuild`".to_owned(),
        ),
        RuntimeError::UnsupportedInterval { .. } => Some(format!(
            "set the bot's interval to one of {}; only backtests build longer candles from shorter ones",
            COMMON_INTERVALS.join(", ")
        )),
        RuntimeError::UnknownSeries { .. } => Some(
            "check the bot's symbol and asset_type (crypto, forex, otc); `candlewick doctor` checks every bot's candles".to_owned(),
        ),
        RuntimeError::Journal(error) => help_for_journal(error),
        _ => None,
    }
}

fn help_for_venue(error: &BrokerError) -> &'static str {
    match error {
        BrokerError::Credentials { .. } => {
            "check CANDLEWICK_BROKER__API_TOKEN and CANDLEWICK_BROKER__API_KEY, or the files that hold them"
        }
        BrokerError::NotFound { .. } => "check that the venue lists the bots' symbols and asset types",
        BrokerError::Unavailable { .. } => {
            "check broker.base_url and broker.price_url, and whether this machine can reach the venue"
        }
        _ => "run with -v to see the requests; `candlewick live --sandbox` needs no venue",
    }
}
