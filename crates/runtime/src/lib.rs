//! Runs a session live: requests candles and prices, sends orders and tracks results.
//!
//! The [`Coordinator`] is the deterministic core, which maps inputs (responses, orders, ticks, time) to commands.
//! The [`Runner`] executes these commands: its tokio tasks call the traits of `candlewick-broker`, write the
//! journal and sleep. Observers receive notices through a bounded channel ([`Watcher`]). If the channel is
//! full, notices are dropped and counted. This crate makes no trading decisions.

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

pub use adoption::{verify_adoption, verify_missing};
pub use audit::{Audit, Tally};
pub use budget::Demand;
pub use connect::{Account, connect, counted_balance};
pub use coordinator::{
    Answer, Command, Coordinator, CoordinatorParts, DurableOpen, Finished, Input, JournalEntry, OrderId,
    RequestId, RunResult, Streams, Unfinished, UnfinishedKind, VenueRequest, WalletDifference, applied_terms,
    possible_payout, possible_times, profit_by_rule,
};
pub use error::{RuntimeError, Stop};
pub use notice::{
    Evidence, Funds, Interest, Notice, Notices, Observer, Question, Received, Watcher, may_settle,
};
pub use overview::{BotOverview, Overview, TradeOverview};
pub use past::{
    Decided, FullReading, JournalCheck, JournalFold, OldTrade, Projection, ProjectionResult, ReadingWatcher,
    RecoveredState, SnapshotCheck, TablesCheck, check_journal, compact_journal, project_journal,
};
pub use reload::{NewSettings, RELOADABLE, ReloadInput, SettingsReader};
pub use resolver::latest_close;
pub use runner::{Parts, Runner};
pub use settings::{RuntimeSettings, SecondTradeRule, least_remembered};
pub use skew::{ClockEstimate, ClockSource, describe_skew};
