//! Names that most modules use.

pub(crate) use crate::dice::{Dice, mix};
pub(crate) use crate::lies::{Lie, Lies};
pub(crate) use crate::memory_journal::CrashingJournal;
pub(crate) use crate::money_lies::{MoneyLie, MoneyLies};
pub(crate) use crate::network::ModelNetwork;
pub(crate) use crate::plan::{BALANCE, Habits, Plan, Withholding};
pub(crate) use crate::process::{Crash, End, Fuse, RunEnd};
pub(crate) use crate::time::OffClock;
pub(crate) use crate::truth::{Accounts, Request, RequestState, Sender, Trade, Truth};
pub(crate) use crate::watcher::{Observations, READ_AT_MOST, Watcher, is_unfinished};
pub(crate) use crate::world::World;
pub(crate) use async_trait::async_trait;
pub(crate) use candlewick_broker::clock::Clock;
pub(crate) use candlewick_broker::{
    Account, Balances, BrokerError, CandleRow, OpenOutcome, PriceAnswer, PriceRecord, Reply, ReportedValue,
    TradeListing, TradeOrder, TradeProgress, TradeReport, WalletIdentity,
};
pub(crate) use candlewick_engine::{
    Action, ApprovedTrade, BotSettings, Control, Event, EventKind, IntentId, IntentRow, IntentState, Ledger,
    OrderTerms, RiskSettings, Session, StakeSettings, SymbolId, TradeBook, TradeSettlement, VenueId,
};
pub(crate) use candlewick_journal::{ChainHash, JournalError, Line, LineKind, StoredLine};
pub(crate) use candlewick_runtime::{Answer, RecoveredState, RuntimeError, StopReason, StreamSupport};
pub(crate) use candlewick_sdk::rust_decimal::Decimal;
pub(crate) use candlewick_sdk::rust_decimal::prelude::ToPrimitive;
pub(crate) use candlewick_sdk::{
    Direction, ExpirationType, Interval, Millis, Money, MoneyScale, Outcome, Payout, Symbol,
};
pub(crate) use reqwest::StatusCode;
pub(crate) use serde_json::json;
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::time::Duration;
