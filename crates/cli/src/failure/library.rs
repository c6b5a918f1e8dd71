//! Conversion of library errors into failures, with their exit codes.

use super::{Failure, FailureKind};
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
use candlewick_sdk::BuildError;
use candlewick_search::SearchError;
use candlewick_simulator::SimulatorError;
use candlewick_statistics::StatisticsError;

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
        AppError::Report(report) => of_report(report.kind()),
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
        HistoryError::Io { .. }
        | HistoryError::InvalidLine { .. }
        | HistoryError::InvalidFile { .. }
        | HistoryError::NotInCatalog { .. }
        | HistoryError::SeriesLocked { .. }
        | HistoryError::NoCandles { .. } => FailureKind::Data,
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
        SearchError::UnknownParameter { .. }
        | SearchError::InvalidValues { .. }
        | SearchError::InvalidCondition { .. }
        | SearchError::InvalidSearch { .. }
        | SearchError::DeclarationMismatch { .. }
        | SearchError::InvalidWindows { .. }
        | SearchError::UnusableFile { .. }
        | SearchError::OtherSweep { .. } => FailureKind::Configuration,
        SearchError::SweepLocked { .. } => FailureKind::JournalHeld,
    }
}

const fn of_broker(error: &BrokerError) -> FailureKind {
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

const fn of_journal(error: &JournalError) -> FailureKind {
    match error {
        JournalError::HeldBy { .. } | JournalError::LostLease { .. } => FailureKind::JournalHeld,
        JournalError::JournalExists { .. }
        | JournalError::NotFound { .. }
        | JournalError::OnServer { .. }
        | JournalError::WithoutPostgres { .. }
        | JournalError::InvalidUrl { .. }
        | JournalError::NotWritable { .. }
        | JournalError::PermissionDenied { .. }
        | JournalError::NotAJournal { .. }
        | JournalError::OlderSchema { .. }
        | JournalError::NewerSchema { .. } => FailureKind::Configuration,
        JournalError::BrokenChain { .. } => FailureKind::Check,
        JournalError::Damaged { .. } => FailureKind::Data,
        JournalError::DiskFull { .. }
        | JournalError::Unavailable { .. }
        | JournalError::FileGone { .. }
        | JournalError::Unexpected { .. } => FailureKind::Unexpected,
    }
}

const fn of_records(error: &RecordsError) -> FailureKind {
    match error {
        RecordsError::Journal(error) => of_journal(error),
        RecordsError::Engine(error) => of_engine(error),
        RecordsError::UnreadableEntry { .. } | RecordsError::UnreadableCandles { .. } => FailureKind::Data,
        RecordsError::Simulator(_)
        | RecordsError::NoRun
        | RecordsError::UnknownTrade { .. }
        | RecordsError::UnknownRun { .. }
        | RecordsError::Compacted { .. }
        | RecordsError::UnknownName { .. }
        | RecordsError::UnknownSymbol { .. } => FailureKind::Configuration,
    }
}

const fn of_runtime(error: &RuntimeError) -> FailureKind {
    match error {
        RuntimeError::Venue { .. } | RuntimeError::NoWallet { .. } => FailureKind::Venue,
        RuntimeError::UnreadableEntry { .. }
        | RuntimeError::WrongSnapshot { .. }
        | RuntimeError::WrongRow { .. }
        | RuntimeError::CompactionDiffers => FailureKind::Data,
        RuntimeError::UnsupportedInterval { .. }
        | RuntimeError::UnknownSeries { .. }
        | RuntimeError::MoneyScaleMismatch { .. }
        | RuntimeError::UnknownTrade { .. }
        | RuntimeError::TradeKnown { .. }
        | RuntimeError::TradeMismatch { .. } => FailureKind::Configuration,
        RuntimeError::Engine(error) => of_engine(error),
        RuntimeError::Journal(error) => of_journal(error),
    }
}

const fn of_control(error: &ControlError) -> FailureKind {
    match error {
        ControlError::SocketInUse { .. } => FailureKind::JournalHeld,
        ControlError::NoBotListens { .. }
        | ControlError::OtherOwner { .. }
        | ControlError::NotASocket { .. }
        | ControlError::PathTooLong { .. }
        | ControlError::SocketNotMade { .. }
        | ControlError::ReasonTooLong { .. } => FailureKind::Configuration,
        ControlError::NoAnswer { .. } | ControlError::NoSocketsHere => FailureKind::Unexpected,
    }
}
