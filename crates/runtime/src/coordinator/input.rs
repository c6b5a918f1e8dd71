//! Inputs of the coordinator: venue responses, journal, orders and time.

use crate::control::ControlOrder;
use crate::reload::NewSettings;
use crate::{RuntimeError, Stop};
use candlewick_broker::{
    Balances, BrokerError, Candles, Identity, OpenOutcome, PriceAnswer, PriceTick, Reply, TradeListing,
    TradeReport,
};
use candlewick_engine::{IntentId, SeriesId, SymbolId};
use candlewick_journal::JournalError;
use candlewick_sdk::Millis;
use std::collections::BTreeMap;
use std::time::Duration;

/// An input of a run. A batch for one time ends with [`Input::Time`].
///
/// Only then are events passed to the session, so that their order does not depend on arrival.
#[derive(Debug)]
pub enum Input {
    Start,
    Answer(Answer),
    Tick(SymbolId, PriceTick),
    FeedEnded(SymbolId),
    /// The venue rejects the token for this reason, or accepts one again if `None`.
    Token(Option<String>),
    Unrecognised(BTreeMap<String, u64>),
    /// Result of [`Command::MakeDurable`](super::Command::MakeDurable), for all entries recorded
    /// before.
    Durable(Result<(), JournalError>),
    EntryRefused,
    RenewJournal,
    JournalClosed(Result<(), JournalError>),
    ClockMoved(Millis),
    /// Real time in which the process did not run while its clock did.
    Absent(Duration),
    Order(OrderId, ControlOrder),
    Stop(Stop),
    /// All pending answers were delivered. Answers [`Command::Finish`](super::Command::Finish).
    Finish(Stop),
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderId(pub u64);

/// Identity of a request; at most one of each is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestId {
    Candles(SeriesId),
    Price(SymbolId),
    Subscription(SymbolId),
    Trade(IntentId),
    Trades,
    BalancesAfterTrades,
    Balances,
    User,
    SettlementPrice,
    NamedTrade(OrderId),
    Settings,
    Open(IntentId),
}

#[derive(Debug)]
pub enum Answer {
    Candles(SeriesId, Result<Reply<Candles>, BrokerError>),
    Price(SymbolId, Millis, Result<Reply<PriceAnswer>, BrokerError>),
    Subscription(SymbolId, Result<Streams, BrokerError>),
    Trade(IntentId, Result<Box<Reply<TradeReport>>, BrokerError>),
    Trades(TradeListing),
    BalancesAfterTrades(Result<Reply<Balances>, BrokerError>),
    Balances(Result<Reply<Balances>, BrokerError>),
    User(Result<Reply<Identity>, BrokerError>),
    SettlementPrice(Result<Reply<PriceAnswer>, BrokerError>),
    NamedTrade(OrderId, Result<Box<Reply<TradeReport>>, BrokerError>),
    Settings(Result<Box<NewSettings>, String>),
    Open(IntentId, OpenOutcome),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    Yes,
    No,
}

impl Answer {
    pub const fn id(&self) -> RequestId {
        match self {
            Self::Candles(series, _) => RequestId::Candles(*series),
            Self::Price(symbol, ..) => RequestId::Price(*symbol),
            Self::Subscription(symbol, _) => RequestId::Subscription(*symbol),
            Self::Trade(intent, _) => RequestId::Trade(*intent),
            Self::Trades(_) => RequestId::Trades,
            Self::BalancesAfterTrades(_) => RequestId::BalancesAfterTrades,
            Self::Balances(_) => RequestId::Balances,
            Self::User(_) => RequestId::User,
            Self::SettlementPrice(_) => RequestId::SettlementPrice,
            Self::NamedTrade(order, _) => RequestId::NamedTrade(*order),
            Self::Settings(_) => RequestId::Settings,
            Self::Open(intent, _) => RequestId::Open(*intent),
        }
    }

    /// Builds the answer to a failed request. An open is unknown then, everything else can be
    /// repeated.
    pub fn broken(id: RequestId, now: Millis, text: String) -> Self {
        let error = BrokerError::Unavailable { text: text.clone() };
        match id {
            RequestId::Candles(series) => Self::Candles(series, Err(error)),
            RequestId::Price(symbol) => Self::Price(symbol, now, Err(error)),
            RequestId::Subscription(symbol) => Self::Subscription(symbol, Err(error)),
            RequestId::Trade(intent) => Self::Trade(intent, Err(error)),
            RequestId::Trades => Self::Trades(TradeListing {
                began: now,
                ended: now,
                ended_early: Some(error),
                ..TradeListing::default()
            }),
            RequestId::BalancesAfterTrades => Self::BalancesAfterTrades(Err(error)),
            RequestId::Balances => Self::Balances(Err(error)),
            RequestId::User => Self::User(Err(error)),
            RequestId::SettlementPrice => Self::SettlementPrice(Err(error)),
            RequestId::NamedTrade(order) => Self::NamedTrade(order, Err(error)),
            RequestId::Settings => Self::Settings(Err(text)),
            RequestId::Open(intent) => Self::Open(intent, OpenOutcome::Unknown { reason: text }),
        }
    }
}

pub type RunResult = Result<super::Finished, RuntimeError>;
