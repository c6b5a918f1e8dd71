//! The errors of the libraries: which exit code each has, and what to do about it.

use super::{Failure, FailureKind};
use candlewick_app::candles::cure_of_history;
use candlewick_app::configuration::{Problem, ProblemKind, Problems};
use candlewick_app::suggestion::suggest;
use candlewick_app::{AppError, bots};
use candlewick_backtest::BacktestError;
use candlewick_broker::{BrokerError, USUAL_INTERVALS};
use candlewick_engine::EngineError;
use candlewick_history::HistoryError;
use candlewick_journal::JournalError;
use candlewick_records::RecordsError;
use candlewick_report::ReportError;
use candlewick_runtime::RuntimeError;
use candlewick_runtime::control::ControlError;
use candlewick_sandbox::SandboxError;
use candlewick_sdk::BuildError;
use candlewick_simulator::SimulatorError;
use candlewick_statistics::StatisticsError;

/// What the columns of a file of trades must be, for whoever has others.
const COLUMNS_OF_TRADES: &str = "the columns are: result (WON, LOST, DRAW, CANCELLED, or empty while open) and payout (percent, such as 85), \
                                 both needed; decision_time and close_time in ms, both or neither (without them the lines are trades one \
                                 after another); symbol and bot where there are several";

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        let cure = error.cure();
        let failure = match error {
            AppError::Invalid(fault) => Self::new(FailureKind::Configuration, fault),
            AppError::Data(fault) => Self::new(FailureKind::Data, fault),
            AppError::Venue(fault) => Self::new(FailureKind::Venue, fault),
            AppError::CheckFailed(fault) => Self::new(FailureKind::Check, fault),
            AppError::Forbidden(fault) => Self::new(FailureKind::Stopped, fault),
            AppError::System(fault) => Self::new(FailureKind::Unexpected, fault),
            AppError::Configuration(problems) => problems.into(),
            AppError::History(error) => error.into(),
            AppError::Engine(error) => error.into(),
            AppError::Simulator(error) => error.into(),
            AppError::Backtest(error) => error.into(),
            AppError::Sandbox(error) => error.into(),
            AppError::Broker(error) => error.into(),
            AppError::Journal(error) => error.into(),
            AppError::Records(error) => error.into(),
            AppError::Runtime(error) => error.into(),
            AppError::Control(error) => error.into(),
        };
        cure.into_iter().fold(failure, Self::help)
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::new(kind_of(problems.kind()), problems)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Problems::from(problem).into()
    }
}

impl From<BacktestError> for Failure {
    fn from(error: BacktestError) -> Self {
        let kind = match error {
            BacktestError::Engine(error) => return error.into(),
            BacktestError::Simulator(error) => return error.into(),
            BacktestError::NoCandles { .. } | BacktestError::NoFinerCandles { .. } => FailureKind::Data,
            BacktestError::NameParameter { .. }
            | BacktestError::ChangeParameter { .. }
            | BacktestError::ChangeCondition { .. }
            | BacktestError::ChangeSearch { .. }
            | BacktestError::DeclarationMismatch { .. }
            | BacktestError::ChangeWindows { .. }
            | BacktestError::CheckPath { .. }
            | BacktestError::ChooseFolder { .. } => FailureKind::Configuration,
            BacktestError::SweepLocked { .. } => FailureKind::JournalHeld,
            BacktestError::Journal(_) => FailureKind::Unexpected,
        };
        Self::new(kind, error)
    }
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        let help = cure_of_history(&error);
        let failure = Self::of_history(error);
        help.into_iter().fold(failure, Self::help)
    }
}

impl Failure {
    fn of_history(error: HistoryError) -> Self {
        match &error {
            HistoryError::InvalidSetting { setting, problem } => {
                Self::configuration(format!("--{setting}: {problem}"))
            }
            HistoryError::NameSeries { .. } | HistoryError::ChooseOption { .. } => {
                Self::new(FailureKind::Configuration, error)
            }
            HistoryError::CheckPath { .. }
            | HistoryError::FixLine { .. }
            | HistoryError::FixFile { .. }
            | HistoryError::FillCatalog { .. }
            | HistoryError::AwaitWriter { .. }
            | HistoryError::NoCandles { .. } => Self::new(FailureKind::Data, error),
        }
    }
}

impl From<RecordsError> for Failure {
    fn from(error: RecordsError) -> Self {
        let help = match &error {
            RecordsError::Journal(_)
            | RecordsError::Engine(_)
            | RecordsError::Simulator(_)
            | RecordsError::UnreadableCandles { .. }
            | RecordsError::UnknownRun { .. } => None,
            RecordsError::NoRun => Some("begin one: `candlewick live`".to_owned()),
            RecordsError::UnreadableEntry { .. } => Some(
                "`candlewick doctor` verifies the journal's chain, `candlewick parity` its decisions"
                    .to_owned(),
            ),
            RecordsError::UnknownTrade { .. } => Some("`candlewick trades` lists them".to_owned()),
            RecordsError::UnknownSymbol { symbol, known, .. } => {
                Some(suggest(symbol.as_str(), known.iter().map(String::as_str)))
            }
        };
        let failure = match error {
            RecordsError::Journal(error) => error.into(),
            RecordsError::Engine(error) => error.into(),
            RecordsError::Simulator(error) => error.into(),
            RecordsError::UnreadableEntry { .. } | RecordsError::UnreadableCandles { .. } => {
                Self::new(FailureKind::Data, error)
            }
            RecordsError::NoRun
            | RecordsError::UnknownTrade { .. }
            | RecordsError::UnknownRun { .. }
            | RecordsError::UnknownSymbol { .. } => Self::new(FailureKind::Configuration, error),
        };
        help.into_iter().fold(failure, Self::help)
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
            ReportError::InvalidTrades { .. } => Self::new(FailureKind::Data, error).help(COLUMNS_OF_TRADES),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let kind = match &error {
            EngineError::Strategy { source, .. } => kind_of_build(source),
            EngineError::Setting { .. } | EngineError::Amount { .. } => FailureKind::Configuration,
        };
        Self::new(kind, error)
    }
}

impl From<BrokerError> for Failure {
    fn from(error: BrokerError) -> Self {
        let kind = match &error {
            BrokerError::Settings { .. } => FailureKind::Configuration,
            BrokerError::Credentials { .. }
            | BrokerError::Rejected { .. }
            | BrokerError::NotFound { .. }
            | BrokerError::RateLimited { .. }
            | BrokerError::Unavailable { .. }
            | BrokerError::Malformed { .. } => FailureKind::Venue,
        };
        Self::new(kind, error)
    }
}

impl From<SimulatorError> for Failure {
    fn from(error: SimulatorError) -> Self {
        Self::new(FailureKind::Configuration, error)
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        Self::new(FailureKind::Configuration, error)
    }
}

impl From<StatisticsError> for Failure {
    fn from(error: StatisticsError) -> Self {
        Self::new(FailureKind::Configuration, error)
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        let kind = match &error {
            JournalError::HeldBy { .. } | JournalError::LostLease { .. } => FailureKind::JournalHeld,
            JournalError::JournalExists { .. }
            | JournalError::NotFound { .. }
            | JournalError::InvalidUrl { .. }
            | JournalError::NotWritable { .. }
            | JournalError::PermissionDenied { .. }
            | JournalError::NotAJournal { .. }
            | JournalError::NewerSchema { .. } => FailureKind::Configuration,
            JournalError::BrokenChain { .. } | JournalError::Damaged { .. } => FailureKind::Data,
            JournalError::DiskFull { .. }
            | JournalError::Unavailable { .. }
            | JournalError::Unexpected { .. } => FailureKind::Unexpected,
        };
        Self::new(kind, error)
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        match error {
            RuntimeError::Venue { ref source, .. } => {
                let help = venue_help(source);
                Self::new(FailureKind::Venue, error).help(help)
            }
            RuntimeError::UnreadableEntry { .. } => Self::new(FailureKind::Data, error)
                .help("`candlewick doctor` verifies the journal; name another with --journal"),
            RuntimeError::UnsupportedInterval { .. } => Self::new(FailureKind::Configuration, error).help(format!(
                "let the bot's interval be one of {}; a backtest joins longer candles, a live bot does not",
                USUAL_INTERVALS.join(", ")
            )),
            RuntimeError::NoWallet { .. } => Self::new(FailureKind::Venue, error),
            RuntimeError::MoneyScaleMismatch { .. }
            | RuntimeError::UnknownTrade { .. }
            | RuntimeError::TradeMismatch { .. } => Self::new(FailureKind::Configuration, error),
            RuntimeError::Engine(error) => error.into(),
            RuntimeError::Journal(error) => error.into(),
        }
    }
}

fn venue_help(error: &BrokerError) -> &'static str {
    match error {
        BrokerError::Credentials { .. } => {
            "check CANDLEWICK_BROKER__API_TOKEN and CANDLEWICK_BROKER__API_KEY, or the files that hold them"
        }
        BrokerError::NotFound { .. } => {
            "check the bots' symbols and asset types against what the venue offers"
        }
        BrokerError::Unavailable { .. } => {
            "check broker.base_url and broker.price_url, and that the venue can be reached from here"
        }
        _ => "run with -v to see the requests; `candlewick live --sandbox` needs no venue",
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        let kind = match &error {
            ControlError::SocketInUse { .. } => FailureKind::JournalHeld,
            ControlError::NoBotListens { .. }
            | ControlError::OtherOwner { .. }
            | ControlError::NotASocket { .. }
            | ControlError::PathTooLong { .. }
            | ControlError::SocketNotMade { .. }
            | ControlError::ReasonTooLong { .. } => FailureKind::Configuration,
            ControlError::NoAnswer { .. } | ControlError::NoSocketsHere => FailureKind::Unexpected,
        };
        Self::new(kind, error)
    }
}

/// A strategy's parameters are configuration, the files that it reads are data.
pub(crate) const fn kind_of_build(error: &BuildError) -> FailureKind {
    kind_of(bots::kind_of_build(error))
}

const fn kind_of(kind: ProblemKind) -> FailureKind {
    match kind {
        ProblemKind::Setting => FailureKind::Configuration,
        ProblemKind::Data => FailureKind::Data,
    }
}
