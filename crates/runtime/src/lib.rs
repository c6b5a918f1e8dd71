//! Runs a session live: requests candles and prices, sends orders, and tracks results.
//!
//! The [`Coordinator`] is the deterministic core. It maps inputs (answers, orders, ticks, time) to commands.
//! The [`Runner`] executes these commands: its tokio tasks call the traits of `candlewick-broker`, write the
//! journal, and sleep. Observers receive notices through a bounded channel ([`NoticeSender`]). If this channel is
//! full, a notice is dropped and counted. This crate makes no trading decisions.

mod adoption;
mod audit;
mod budget;
mod connect;
pub mod control;
mod coordinator;
mod error;
pub mod events;
mod notice;
mod overview;
pub mod paper;
mod past;
mod reload;
mod resolver;
mod runner;
mod settings;
mod skew;

pub use adoption::{verify_adoption, verify_trade_missing};
pub use audit::{Audit, Tally};
pub use budget::RequestDemand;
pub use connect::{ConnectedAccount, connect, rounded_balance};
pub use coordinator::{
    Answer, Command, ControlOrderId, Coordinator, CoordinatorParts, DurableOrder, FinishedRun, Input,
    JournalEntry, ReadRequest, RequestId, RunResult, StreamSupport, UnfinishedKind, UnfinishedTrade,
    WalletDifference, changed_terms, computed_profit, remove_impossible_payout, remove_impossible_times,
};
pub use error::{RuntimeError, StopReason};
pub use notice::{
    Evidence, Funds, Notice, NoticeFilter, NoticeReceiver, NoticeSender, Observer, ReceivedNotice,
    RequestKind, may_settle,
};
pub use overview::{BotOverview, Overview, TradeOverview};
pub use past::{
    FullReadCallback, FullReadProgress, IntentDecision, JournalCheck, JournalFold, OldTrade, Projection,
    ProjectionResult, RecoveredState, SnapshotCheck, TablesCheck, check_journal, compact_journal,
    project_journal,
};
pub use reload::{NewSettings, RELOADABLE_KEYS, ReloadInput, SettingsReader};
pub use resolver::latest_close;
pub use runner::{Runner, RunnerParts};
pub use settings::{RuntimeSettings, SecondTradeRule, min_retention_override};
pub use skew::{ClockEstimate, ClockSource, describe_skew};
