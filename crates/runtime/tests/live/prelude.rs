//! Names used by most modules.

pub(crate) use crate::script::{Ask, OpenScript, Script, Trouble, Which, not_sent, running, unavailable};
pub(crate) use crate::stage::{MINUTE, RunRecord, Stage, btc, eth};
pub(crate) use async_trait::async_trait;
pub(crate) use candlewick_broker::clock::{Clock, SystemClock};
pub(crate) use candlewick_broker::{
    AsOf, Broker, BrokerError, CandleQuery, Candles, MarketData, OpenOutcome, PriceAnswer, Reply, TradeReport,
};
pub(crate) use candlewick_engine::{
    Action, BotSettings, Event, EventKind, IntentState, Origin, RiskSettings, Rule, VenueId,
};
pub(crate) use candlewick_runtime::control::{ControlAnswer, ControlOrder};
pub(crate) use candlewick_runtime::{
    Notice, NoticeFilter, NoticeSender, Runner, RuntimeError, RuntimeSettings, StopReason,
};
pub(crate) use candlewick_sdk::rust_decimal::Decimal;
pub(crate) use candlewick_sdk::{Candle, Millis, Outcome, Signal, Strategy, Symbol};
pub(crate) use std::collections::BTreeMap;
pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::time::Duration;
