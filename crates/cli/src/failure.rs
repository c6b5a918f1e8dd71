//! Results of commands: exit codes and rendered errors.

use crate::host::HostedFailure;
use crate::terminal::{sanitize_lines, terminal_columns, wrap};
use candlewick_app::bots::build_error_kind;
use candlewick_app::configuration::{Problem, ProblemKind, Problems};
use candlewick_app::{AppError, ErrorKind};
use candlewick_backtest::BacktestError;
use candlewick_broker::BrokerError;
use candlewick_dashboard::DashboardError;
use candlewick_engine::EngineError;
use candlewick_history::HistoryError;
use candlewick_journal::JournalError;
use candlewick_records::RecordsError;
use candlewick_report::ReportError;
use candlewick_runtime::RuntimeError;
use candlewick_runtime::control::ControlError;
use candlewick_sandbox::SandboxError;
use candlewick_sdk::{BuildError, escape_hidden};
use candlewick_search::SearchError;
use candlewick_simulator::SimulatorError;
use candlewick_statistics::StatisticsError;
use console::Term;
use std::fmt::Write as _;

/// Exit codes of successful commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The command has finished, or SIGTERM caused an orderly stop.
    Done = 0,
    /// A confirmation has not shown an edge.
    NotShown = 8,
    /// Ctrl-C caused an orderly stop.
    Interrupted = 130,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    Unexpected = 1,
    Configuration = 2,
    Data = 3,
    Venue = 4,
    Check = 5,
    Stopped = 6,
    JournalInUse = 7,
}

#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    error: anyhow::Error,
    hint: Option<String>,
}

impl Ending {
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, error: impl Into<anyhow::Error>) -> Self {
        Self { kind, error: error.into(), hint: None }
    }

    pub(crate) fn configuration(problem: impl Into<String>) -> Self {
        Self::new(FailureKind::Configuration, anyhow::Error::msg(problem.into()))
    }

    pub(crate) fn unexpected(error: impl Into<anyhow::Error>) -> Self {
        Self::new(FailureKind::Unexpected, error)
    }

    pub(crate) fn failed_check(problem: impl Into<String>) -> Self {
        Self::new(FailureKind::Check, anyhow::Error::msg(problem.into()))
    }

    #[must_use]
    pub(crate) fn context(mut self, context: impl Into<String>) -> Self {
        self.error = self.error.context(context.into());
        self
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn or_hint(mut self, fallback: &str) -> Self {
        self.hint.get_or_insert_with(|| fallback.to_owned());
        self
    }

    pub(crate) fn render(&self) -> String {
        let mut text = format!("error: {}", self.message());
        if let Some(hint) = &self.hint {
            let _ = write!(text, "\nhint: {}", escape_quoted_lines(hint));
        }
        text
    }

    fn message(&self) -> String {
        let mut text = escape_quoted_lines(&self.error.to_string());
        let mut last = self.error.to_string();
        for cause in self.error.chain().skip(1) {
            let cause = cause.to_string();
            if !last.contains(&cause) {
                let _ = write!(text, "\n  cause: {}", escape_quoted_lines(&cause));
            }
            last = cause;
        }
        text
    }

    pub(crate) fn print(&self) {
        anstream::eprintln!("{}", wrap(&sanitize_lines(&self.render()), terminal_columns(&Term::stderr())));
    }

    pub(crate) const fn code(&self) -> u8 {
        self.kind as u8
    }

    pub(crate) fn to_hosted_failure(&self) -> HostedFailure {
        HostedFailure { message: self.message(), help: self.hint.clone() }
    }
}

/// Escapes line breaks in quoted text, so that the text cannot imitate indented lines of this program.
fn escape_quoted_lines(text: &str) -> String {
    text.split("\n  ").map(escape_hidden).collect::<Vec<_>>().join("\n  ")
}

pub(crate) fn fail_if_any(mut failures: Vec<Failure>) -> Result<(), Failure> {
    let last = failures.pop();
    failures.iter().for_each(Failure::print);
    last.map_or(Ok(()), Err)
}

const TRADE_COLUMNS_HINT: &str = "required columns are result (WON, LOST, DRAW, CANCELLED, or empty while open) and payout (percent, \
                                  such as 85). Optional columns are symbol, bot, decision_time and close_time (in ms, both \
                                  or neither). Trades without times count as consecutive";

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        let (kind, hint) = (failure_kind(&error), error.help_text());
        let failure = match error {
            AppError::History(HistoryError::InvalidSetting { setting, problem }) => {
                Self::configuration(format!("--{setting}: {problem}"))
            }
            error => Self::new(kind, error),
        };
        hint.into_iter().fold(failure, Self::hint)
    }
}

macro_rules! from_app_errors {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                AppError::from(error).into()
            }
        })+
    };
}

from_app_errors!(
    BacktestError,
    BrokerError,
    ControlError,
    EngineError,
    HistoryError,
    JournalError,
    Problem,
    Problems,
    RecordsError,
    RuntimeError,
    SandboxError,
    SearchError,
    SimulatorError,
);

impl From<DashboardError> for Failure {
    fn from(error: DashboardError) -> Self {
        Self::new(report_failure_kind(error.kind()), error)
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match &error {
            ReportError::Statistics(_) => Self::new(FailureKind::Configuration, error),
            ReportError::Document(_) => Self::new(FailureKind::Unexpected, error),
            ReportError::UnreadableTrades { .. } => {
                Self::new(FailureKind::Data, error).hint("pass a CSV file of trades")
            }
            ReportError::InvalidTrades { .. } | ReportError::TradesWithoutTimes => {
                Self::new(FailureKind::Data, error).hint(TRADE_COLUMNS_HINT)
            }
        }
    }
}

impl From<StatisticsError> for Failure {
    fn from(error: StatisticsError) -> Self {
        Self::new(FailureKind::Configuration, error)
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::new(problem_failure_kind(build_error_kind(&error)), error)
    }
}

fn failure_kind(error: &AppError) -> FailureKind {
    match error {
        AppError::Report(report) => report_failure_kind(report.kind),
        AppError::Configuration(problems) => problem_failure_kind(problems.kind()),
        AppError::History(error) => history_failure_kind(error),
        AppError::Engine(error) => engine_failure_kind(error),
        AppError::Simulator(_) | AppError::Sandbox(_) => FailureKind::Configuration,
        AppError::Backtest(error) => backtest_failure_kind(error),
        AppError::Search(error) => search_failure_kind(error),
        AppError::Broker(error) => broker_failure_kind(error),
        AppError::Journal(error) => journal_failure_kind(error),
        AppError::Records(error) => records_failure_kind(error),
        AppError::Runtime(error) => runtime_failure_kind(error),
        AppError::Control(error) => control_failure_kind(error),
    }
}

const fn report_failure_kind(kind: ErrorKind) -> FailureKind {
    match kind {
        ErrorKind::InvalidArgument => FailureKind::Configuration,
        ErrorKind::UnusableData => FailureKind::Data,
        ErrorKind::VenueFailed => FailureKind::Venue,
        ErrorKind::RealMoneyRefused => FailureKind::Stopped,
        ErrorKind::OrderRefused | ErrorKind::OrderNotConfirmed | ErrorKind::SystemFailed => {
            FailureKind::Unexpected
        }
    }
}

const fn problem_failure_kind(kind: ProblemKind) -> FailureKind {
    match kind {
        ProblemKind::Setting => FailureKind::Configuration,
        ProblemKind::Data => FailureKind::Data,
    }
}

const fn history_failure_kind(error: &HistoryError) -> FailureKind {
    match error {
        HistoryError::InvalidSetting { .. }
        | HistoryError::InvalidSeriesName { .. }
        | HistoryError::AmbiguousFile { .. } => FailureKind::Configuration,
        HistoryError::Io { .. }
        | HistoryError::InvalidLine { .. }
        | HistoryError::NoCandles { .. }
        | HistoryError::InvalidFile { .. }
        | HistoryError::NotInCatalog { .. }
        | HistoryError::SeriesLocked { .. } => FailureKind::Data,
    }
}

const fn engine_failure_kind(error: &EngineError) -> FailureKind {
    match error {
        EngineError::Strategy { source, .. } => problem_failure_kind(build_error_kind(source)),
        EngineError::Setting { .. } | EngineError::Amount { .. } => FailureKind::Configuration,
    }
}

const fn backtest_failure_kind(error: &BacktestError) -> FailureKind {
    match error {
        BacktestError::Engine(error) => engine_failure_kind(error),
        BacktestError::NoCandles { .. } | BacktestError::NoFinerCandles { .. } => FailureKind::Data,
        BacktestError::Simulator(_) => FailureKind::Configuration,
        BacktestError::Journal(_) => FailureKind::Unexpected,
    }
}

const fn search_failure_kind(error: &SearchError) -> FailureKind {
    match error {
        SearchError::Backtest(error) => backtest_failure_kind(error),
        SearchError::SweepLocked { .. } => FailureKind::JournalInUse,
        SearchError::UnknownParameter { .. }
        | SearchError::InvalidValues { .. }
        | SearchError::InvalidCondition { .. }
        | SearchError::InvalidSearch { .. }
        | SearchError::DeclarationMismatch { .. }
        | SearchError::InvalidWindows { .. }
        | SearchError::OtherSweep { .. }
        | SearchError::UnusableFile { .. } => FailureKind::Configuration,
    }
}

const fn broker_failure_kind(error: &BrokerError) -> FailureKind {
    match error {
        BrokerError::Settings { .. } => FailureKind::Configuration,
        BrokerError::Credentials { .. }
        | BrokerError::Rejected { .. }
        | BrokerError::NotFound { .. }
        | BrokerError::RateLimited { .. }
        | BrokerError::Unavailable { .. }
        | BrokerError::LimitReached { .. }
        | BrokerError::Malformed { .. } => FailureKind::Venue,
    }
}

const fn journal_failure_kind(error: &JournalError) -> FailureKind {
    match error {
        JournalError::HeldBy { .. } | JournalError::LostLease { .. } => FailureKind::JournalInUse,
        JournalError::BrokenChain { .. } => FailureKind::Check,
        JournalError::Damaged { .. } => FailureKind::Data,
        JournalError::DiskFull { .. }
        | JournalError::Unavailable { .. }
        | JournalError::FileGone { .. }
        | JournalError::Unexpected { .. } => FailureKind::Unexpected,
        JournalError::JournalExists { .. }
        | JournalError::NotFound { .. }
        | JournalError::OnServer { .. }
        | JournalError::WithoutPostgres { .. }
        | JournalError::InvalidUrl { .. }
        | JournalError::NotWritable { .. }
        | JournalError::PermissionDenied { .. }
        | JournalError::NotAJournal { .. }
        | JournalError::NewerSchema { .. }
        | JournalError::OlderSchema { .. } => FailureKind::Configuration,
    }
}

const fn records_failure_kind(error: &RecordsError) -> FailureKind {
    match error {
        RecordsError::Journal(error) => journal_failure_kind(error),
        RecordsError::Engine(error) => engine_failure_kind(error),
        RecordsError::UnreadableEntry { .. } | RecordsError::UnreadableCandles { .. } => FailureKind::Data,
        RecordsError::Simulator(_)
        | RecordsError::NoRun
        | RecordsError::UnknownTrade { .. }
        | RecordsError::Compacted { .. }
        | RecordsError::UnknownRun { .. }
        | RecordsError::UnknownName { .. }
        | RecordsError::UnknownSymbol { .. } => FailureKind::Configuration,
    }
}

const fn runtime_failure_kind(error: &RuntimeError) -> FailureKind {
    match error {
        RuntimeError::Engine(error) => engine_failure_kind(error),
        RuntimeError::Journal(error) => journal_failure_kind(error),
        RuntimeError::Venue { .. } | RuntimeError::NoWallet { .. } => FailureKind::Venue,
        RuntimeError::UnreadableEntry { .. }
        | RuntimeError::WrongSnapshot { .. }
        | RuntimeError::WrongRow { .. }
        | RuntimeError::CompactionDiffers => FailureKind::Data,
        RuntimeError::UnsupportedInterval { .. }
        | RuntimeError::UnknownSeries { .. }
        | RuntimeError::UnknownTrade { .. }
        | RuntimeError::TradeKnown { .. }
        | RuntimeError::TradeMismatch { .. }
        | RuntimeError::MoneyScaleMismatch { .. } => FailureKind::Configuration,
    }
}

const fn control_failure_kind(error: &ControlError) -> FailureKind {
    match error {
        ControlError::SocketInUse { .. } => FailureKind::JournalInUse,
        ControlError::TransportError { .. } | ControlError::NoSocketsHere => FailureKind::Unexpected,
        ControlError::NoBotListens { .. }
        | ControlError::OtherOwner { .. }
        | ControlError::NotASocket { .. }
        | ControlError::PathTooLong { .. }
        | ControlError::SocketNotMade { .. }
        | ControlError::ReasonTooLong { .. } => FailureKind::Configuration,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn prints_causes_and_hint_below_the_error() {
        let source = std::io::Error::other("the disk is gone");
        let error = HistoryError::Io { path: PathBuf::from("a.csv"), action: "read", source };
        let failure = Failure::from(error).context("cannot run").hint("mount it");
        let expected = "error: cannot run\n  cause: a.csv: cannot read the file\n  cause: the disk is gone\nhint: mount it";
        assert_eq!(failure.render(), expected);
    }

    #[test]
    fn omits_a_cause_that_repeats_the_error() {
        let source = BuildError::invalid_parameters("x", "period = 0");
        let failure = Failure::from(EngineError::Strategy { bot: "a".to_owned(), source });
        assert_eq!(failure.render(), "error: bot \"a\": parameters of strategy \"x\": period = 0");
    }

    #[test]
    fn invalid_series_names_are_configuration_errors() {
        let name = HistoryError::InvalidSeriesName { text: "x".to_owned(), problem: "no".to_owned() };
        let line = HistoryError::InvalidLine { path: PathBuf::from("x"), line: 2, problem: "no".to_owned() };
        assert_eq!(Failure::from(name).kind, FailureKind::Configuration);
        assert_eq!(Failure::from(line).kind, FailureKind::Data);
    }
}
