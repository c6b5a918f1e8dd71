//! What a coordinator learns: answers of the venue, the journal, people, time.

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

/// Something that a run learns. Several may be handed over at one moment; a batch ends with [`Input::Time`], and only then
/// are events handed to the Session, so that those of one instant are in order however they arrived.
#[derive(Debug)]
pub enum Input {
    /// The run begins.
    Start,
    /// The venue answered, or nothing did in time.
    Answer(Answer),
    /// A price of a symbol that is subscribed to.
    Tick(SymbolId, PriceTick),
    /// A subscription has ended: prices are asked for again.
    FeedEnded(SymbolId),
    /// The venue does not accept the token, in these words, or accepts one again.
    Token(Option<String>),
    /// What the venue has sent so far that its adapter does not know, by name.
    Unrecognised(BTreeMap<String, u64>),
    /// All that was recorded before [`Command::MakeDurable`](super::Command::MakeDurable) is durable, or cannot be made so.
    Durable(Result<(), JournalError>),
    /// The journal refused an entry: it has a hole from there on.
    EntryRefused,
    /// The journal's lease is to be renewed.
    RenewJournal,
    /// The journal was closed, or could not be.
    JournalClosed(Result<(), JournalError>),
    /// The clock was asked to catch up, and moved forward by so much.
    ClockMoved(Millis),
    /// This process did not run for so long in real time, and its clock went on.
    Absent(Duration),
    /// A person orders something.
    Order(OrderId, ControlOrder),
    /// The run is to stop.
    Stop(Stop),
    /// Every answer that had come was handed over: the run ends now. Answers
    /// [`Command::Finish`](super::Command::Finish).
    Finish(Stop),
    /// Time has passed; the end of every batch.
    Time,
}

/// The number of an order, by which its answer is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderId(pub u64);

/// Which question an answer belongs to. Each is asked at most once at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestId {
    /// Closed candles of a series.
    Candles(SeriesId),
    /// The price of a symbol on the price grid.
    Price(SymbolId),
    /// A subscription to a symbol's prices.
    Subscription(SymbolId),
    /// How a trade stands.
    Trade(IntentId),
    /// The list of the account's trades.
    Trades,
    /// The balances, as they stand after the list was read.
    BalancesAfterTrades,
    /// The balances.
    Balances,
    /// Whether the account may trade.
    User,
    /// A price record of a settlement that is audited.
    SettlementPrice,
    /// The trade that a person names.
    NamedTrade(OrderId),
    /// The settings as they are written now.
    Settings,
    /// The open of an intent.
    Open(IntentId),
}

/// What came of a question.
#[derive(Debug)]
pub enum Answer {
    /// Closed candles of a series.
    Candles(SeriesId, Result<Reply<Candles>, BrokerError>),
    /// The price of a symbol at this moment of the price grid.
    Price(SymbolId, Millis, Result<Reply<PriceAnswer>, BrokerError>),
    /// Whether the market streams a symbol's prices.
    Subscription(SymbolId, Result<Streams, BrokerError>),
    /// How a trade stands.
    Trade(IntentId, Result<Box<Reply<TradeReport>>, BrokerError>),
    /// The list of the account's trades.
    Trades(TradeListing),
    /// The balances, as they stood after the list was read.
    BalancesAfterTrades(Result<Reply<Balances>, BrokerError>),
    /// The balances.
    Balances(Result<Reply<Balances>, BrokerError>),
    /// Whether the account may trade.
    User(Result<Reply<Identity>, BrokerError>),
    /// A price record of a settlement that is audited.
    SettlementPrice(Result<Reply<PriceAnswer>, BrokerError>),
    /// The trade that a person names.
    NamedTrade(OrderId, Result<Box<Reply<TradeReport>>, BrokerError>),
    /// The settings as they are written now, or what is wrong with them.
    Settings(Result<Box<NewSettings>, String>),
    /// What is known of an open.
    Open(IntentId, OpenOutcome),
}

/// Whether prices come by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// They do, from now on.
    Yes,
    /// They are asked for.
    No,
}

impl Answer {
    /// Which question it answers.
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

    /// The answer to a question whose asking broke at `now`: an open may have arrived, anything else can be asked again.
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

/// How a run ended.
pub type RunResult = Result<super::Finished, RuntimeError>;
