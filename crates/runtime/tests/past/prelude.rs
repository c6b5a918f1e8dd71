//! Names used by most modules.

pub(crate) use crate::snapshots::{EVERY, Folder, settings, state};
pub(crate) use candlewick_engine::{
    Action, BotSettings, Entry, Event, EventKind, IntentId, OpenedTrade, Origin, Rejection, SeriesId,
    Session, SessionSettings, StakeSettings, VenueId,
};
pub(crate) use candlewick_journal::{Holder, JournalUrl, LeaseTerms, Reader, RunJournal, Store, is_snapshot};
pub(crate) use candlewick_runtime::{
    FullReadProgress, JournalFold, RuntimeError, TablesCheck, check_journal,
};
pub(crate) use candlewick_sdk::rust_decimal::Decimal;
pub(crate) use candlewick_sdk::{Candle, Interval, Millis, Money, Ohlcv, Outcome, Signal, Strategy};
pub(crate) use std::time::Duration;
