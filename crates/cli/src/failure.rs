//! Results of commands: exit codes and rendered errors.

use crate::host::HostedFailure;
use crate::terminal::{columns_of, lines, wrapped};
use candlewick_app::bots::kind_of_build;
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
use candlewick_sdk::{BuildError, visible};
use candlewick_search::SearchError;
use candlewick_simulator::SimulatorError;
use candlewick_statistics::StatisticsError;
use console::Term;
use std::fmt::Write as _;

/// Exit codes of success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything is done, or SIGTERM caused an orderly stop.
    Done = 0,
    /// Ctrl-C caused an orderly stop.
    Interrupted = 130,
}

/// Exit codes of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    Unexpected = 1,
    Configuration = 2,
    Data = 3,
    Venue = 4,
    /// A failed check: parity, a strategy's, data, doctor.
    Check = 5,
    Stopped = 6,
    JournalHeld = 7,
}

#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    error: anyhow::Error,
    help: Option<String>,
}

impl Ending {
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, error: impl Into<anyhow::Error>) -> Self {
        Self { kind, error: error.into(), help: None }
    }

    pub(crate) fn configuration(problem: impl Into<String>) -> Self {
        Self::new(FailureKind::Configuration, anyhow::Error::msg(problem.into()))
    }

    pub(crate) fn unexpected(error: impl Into<anyhow::Error>) -> Self {
        Self::new(FailureKind::Unexpected, error)
    }

    pub(crate) fn check(problem: impl Into<String>) -> Self {
        Self::new(FailureKind::Check, anyhow::Error::msg(problem.into()))
    }

    #[must_use]
    pub(crate) fn context(mut self, context: impl Into<String>) -> Self {
        self.error = self.error.context(context.into());
        self
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub(crate) fn help_otherwise(mut self, help: &str) -> Self {
        self.help.get_or_insert_with(|| help.to_owned());
        self
    }

    pub(crate) fn render(&self) -> String {
        let mut text = format!("error: {}", self.words());
        if let Some(help) = &self.help {
            let _ = write!(text, "\nhelp: {}", said(help));
        }
        text
    }

    fn words(&self) -> String {
        let mut text = said(&self.error.to_string());
        let mut last = self.error.to_string();
        for cause in self.error.chain().skip(1) {
            // A cause that only repeats what stands above it says nothing.
            let cause = cause.to_string();
            if !last.contains(&cause) {
                let _ = write!(text, "\n  cause: {}", said(&cause));
            }
            last = cause;
        }
        text
    }

    pub(crate) fn print(&self) {
        anstream::eprintln!("{}", wrapped(&lines(&self.render()), columns_of(&Term::stderr())));
    }

    pub(crate) const fn code(&self) -> u8 {
        self.kind as u8
    }

    pub(crate) fn to_hosted(&self) -> HostedFailure {
        HostedFailure { message: self.words(), help: self.help.clone() }
    }
}

/// Escapes line breaks in quoted text, so that they cannot look like our indented lines.
fn said(words: &str) -> String {
    words.split("\n  ").map(visible).collect::<Vec<_>>().join("\n  ")
}

/// Ends a command that continued despite failures: prints all but the last, which is returned.
pub(crate) fn fail_with_last(mut failures: Vec<Failure>) -> Result<(), Failure> {
    let last = failures.pop();
    failures.iter().for_each(Failure::print);
    last.map_or(Ok(()), Err)
}

const COLUMNS_OF_TRADES: &str = "the columns are: result (WON, LOST, DRAW, CANCELLED, or empty while open) and payout (percent, such as 85), \
                                 both needed; decision_time and close_time in ms, both or neither (without them the lines are trades one \
                                 after another); symbol and bot where there are several";

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        let (kind, help) = (kind_of(&error), error.help_text());
        let failure = match error {
            AppError::History(HistoryError::InvalidSetting { setting, problem }) => {
                Self::configuration(format!("--{setting}: {problem}"))
            }
            error => Self::new(kind, error),
        };
        help.into_iter().fold(failure, Self::help)
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
        Self::new(of_report(error.kind()), error)
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match &error {
            ReportError::Statistics(_) => Self::new(FailureKind::Configuration, error),
            ReportError::Document(_) => Self::new(FailureKind::Unexpected, error),
            ReportError::UnreadableTrades { .. } => {
                Self::new(FailureKind::Data, error).help("name a CSV file of trades")
            }
            ReportError::InvalidTrades { .. } | ReportError::TradesWithoutTimes => {
                Self::new(FailureKind::Data, error).help(COLUMNS_OF_TRADES)
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
        Self::new(of_problem(kind_of_build(&error)), error)
    }
}

fn kind_of(error: &AppError) -> FailureKind {
    match error {
        AppError::Report(report) => of_report(report.kind),
        AppError::Configuration(problems) => of_problem(problems.kind()),
        AppError::History(error) => of_history(error),
        AppError::Engine(error) => of_engine(error),
        AppError::Simulator(_) | AppError::Sandbox(_) => FailureKind::Configuration,
        AppError::Backtest(error) => of_backtest(error),
        AppError::Search(error) => of_search(error),
        AppError::Broker(error) => of_broker(error),
        AppError::Journal(error) => of_journal(error),
        AppError::Records(error) => of_records(error),
        AppError::Runtime(error) => of_runtime(error),
        AppError::Control(error) => of_control(error),
    }
}

const fn of_report(kind: ErrorKind) -> FailureKind {
    match kind {
        ErrorKind::InvalidArgument => FailureKind::Configuration,
        ErrorKind::UnusableData => FailureKind::Data,
        ErrorKind::VenueFailed => FailureKind::Venue,
        ErrorKind::HoldOutOpenedBefore => FailureKind::Check,
        ErrorKind::RealMoneyRefused => FailureKind::Stopped,
        ErrorKind::OrderRefused | ErrorKind::OrderNotConfirmed | ErrorKind::SystemFailed => {
            FailureKind::Unexpected
        }
    }
}

const fn of_problem(kind: ProblemKind) -> FailureKind {
    match kind {
        ProblemKind::Setting => FailureKind::Configuration,
        ProblemKind::Data => FailureKind::Data,
    }
}

const fn of_history(error: &HistoryError) -> FailureKind {
    match error {
        HistoryError::InvalidSetting { .. }
        | HistoryError::InvalidSeriesName { .. }
        | HistoryError::AmbiguousFile { .. } => FailureKind::Configuration,
        _ => FailureKind::Data,
    }
}

const fn of_engine(error: &EngineError) -> FailureKind {
    match error {
        EngineError::Strategy { source, .. } => of_problem(kind_of_build(source)),
        EngineError::Setting { .. } | EngineError::Amount { .. } => FailureKind::Configuration,
    }
}

const fn of_backtest(error: &BacktestError) -> FailureKind {
    match error {
        BacktestError::Engine(error) => of_engine(error),
        BacktestError::NoCandles { .. } | BacktestError::NoFinerCandles { .. } => FailureKind::Data,
        BacktestError::Simulator(_) => FailureKind::Configuration,
        BacktestError::Journal(_) => FailureKind::Unexpected,
    }
}

const fn of_search(error: &SearchError) -> FailureKind {
    match error {
        SearchError::Backtest(error) => of_backtest(error),
        SearchError::SweepLocked { .. } => FailureKind::JournalHeld,
        _ => FailureKind::Configuration,
    }
}

const fn of_broker(error: &BrokerError) -> FailureKind {
    match error {
        BrokerError::Settings { .. } => FailureKind::Configuration,
        _ => FailureKind::Venue,
    }
}

const fn of_journal(error: &JournalError) -> FailureKind {
    match error {
        JournalError::HeldBy { .. } | JournalError::LostLease { .. } => FailureKind::JournalHeld,
        JournalError::BrokenChain { .. } => FailureKind::Check,
        JournalError::Damaged { .. } => FailureKind::Data,
        JournalError::DiskFull { .. }
        | JournalError::Unavailable { .. }
        | JournalError::FileGone { .. }
        | JournalError::Unexpected { .. } => FailureKind::Unexpected,
        _ => FailureKind::Configuration,
    }
}

const fn of_records(error: &RecordsError) -> FailureKind {
    match error {
        RecordsError::Journal(error) => of_journal(error),
        RecordsError::Engine(error) => of_engine(error),
        RecordsError::UnreadableEntry { .. } | RecordsError::UnreadableCandles { .. } => FailureKind::Data,
        _ => FailureKind::Configuration,
    }
}

const fn of_runtime(error: &RuntimeError) -> FailureKind {
    match error {
        RuntimeError::Engine(error) => of_engine(error),
        RuntimeError::Journal(error) => of_journal(error),
        RuntimeError::Venue { .. } | RuntimeError::NoWallet { .. } => FailureKind::Venue,
        RuntimeError::UnreadableEntry { .. }
        | RuntimeError::WrongSnapshot { .. }
        | RuntimeError::WrongRow { .. }
        | RuntimeError::CompactionDiffers => FailureKind::Data,
        _ => FailureKind::Configuration,
    }
}

const fn of_control(error: &ControlError) -> FailureKind {
    match error {
        ControlError::SocketInUse { .. } => FailureKind::JournalHeld,
        ControlError::NoAnswer { .. } | ControlError::NoSocketsHere => FailureKind::Unexpected,
        _ => FailureKind::Configuration,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn causes_and_the_way_out_stand_below_the_error() {
        let source = std::io::Error::other("the disk is gone");
        let error = HistoryError::Io { path: PathBuf::from("a.csv"), action: "read", source };
        let failure = Failure::from(error).context("cannot run").help("mount it");
        let expected = "error: cannot run\n  cause: a.csv: cannot read the file\n  cause: the disk is gone\nhelp: mount it";
        assert_eq!(failure.render(), expected);
    }

    #[test]
    fn a_cause_that_repeats_the_error_is_left_out() {
        let source = BuildError::parameters("x", "period = 0");
        let failure = Failure::from(EngineError::Strategy { bot: "a".to_owned(), source });
        assert_eq!(failure.render(), "error: bot \"a\": parameters of strategy \"x\": period = 0");
    }

    #[test]
    fn arguments_about_data_are_not_data() {
        let name = HistoryError::InvalidSeriesName { text: "x".to_owned(), problem: "no".to_owned() };
        let line = HistoryError::InvalidLine { path: PathBuf::from("x"), line: 2, problem: "no".to_owned() };
        assert_eq!(Failure::from(name).kind, FailureKind::Configuration);
        assert_eq!(Failure::from(line).kind, FailureKind::Data);
    }
}
