//! Commands from the coordinator to its runner, inputs from the runner, and pending requests.

use super::Coordinator;
use crate::control::{ControlAnswer, ControlOrder};
use crate::reload::{NewSettings, ReloadInput};
use crate::{Notice, RuntimeError, StopReason};
use candlewick_broker::{
    Balances, BrokerError, CandleQuery, Candles, Identity, OpenOutcome, PriceAnswer, PriceTick, Priority,
    Reply, TradeListing, TradeOrder, TradeReport,
};
use candlewick_engine::{Action, Entry, Event, Header, IntentId, SeriesId, SymbolId};
use candlewick_journal::JournalError;
use candlewick_sdk::{Millis, Symbol};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

#[allow(clippy::large_enum_variant, reason = "most commands are large and short-lived")]
#[derive(Debug)]
pub enum Command {
    Ask(ReadRequest),
    /// Send this order exactly once. The runner answers with [`Answer::Open`](super::Answer::Open).
    Send(DurableOrder),
    /// Record a journal entry. If refused, the runner answers with [`Input::EntryRefused`](super::Input::EntryRefused).
    Record(JournalEntry),
    /// Make all recorded entries durable. The runner answers with [`Input::Durable`](super::Input::Durable).
    MakeDurable,
    CloseJournal,
    Notify(Notice),
    AnswerOrder(ControlOrderId, ControlAnswer),
    /// Advance the clock after the machine slept. The answer is [`Input::ClockMoved`](super::Input::ClockMoved).
    CatchUpClock,
    WakeAt(Millis),
    /// Deliver all pending answers, and then answer with [`Input::Finish`](super::Input::Finish).
    Finish(StopReason),
    End(Box<RunResult>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum ReadRequest {
    Candles(SeriesId, CandleQuery),
    Price(SymbolId, Symbol, Millis),
    Subscription(SymbolId, Symbol),
    Trade(IntentId, String),
    Trades,
    BalancesAfterTrades,
    Balances,
    User,
    SettlementPrice(Symbol, Millis),
    TradeToAdopt(ControlOrderId, IntentId, String),
    /// Read the current settings from local files. This request is not sent to the venue.
    Settings(Box<ReloadInput>),
}

impl ReadRequest {
    pub const fn id(&self) -> RequestId {
        match self {
            Self::Candles(series, _) => RequestId::Candles(*series),
            Self::Price(symbol, ..) => RequestId::Price(*symbol),
            Self::Subscription(symbol, _) => RequestId::Subscription(*symbol),
            Self::Trade(intent, _) => RequestId::Trade(*intent),
            Self::Trades => RequestId::Trades,
            Self::BalancesAfterTrades => RequestId::BalancesAfterTrades,
            Self::Balances => RequestId::Balances,
            Self::User => RequestId::User,
            Self::SettlementPrice(..) => RequestId::SettlementPrice,
            Self::TradeToAdopt(order, ..) => RequestId::TradeToAdopt(*order),
            Self::Settings(_) => RequestId::Settings,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum JournalEntry {
    Header(Box<Header>),
    Event(Event),
    Action(Action),
    Note(Millis, String),
    NoteAbout(Millis, IntentId, String),
}

impl JournalEntry {
    pub fn from_entry(entry: Entry<'_>) -> Self {
        match entry {
            Entry::Header(header) => Self::Header(Box::new(header.clone())),
            Entry::Event(event) => Self::Event(*event),
            Entry::Action(action) => Self::Action(action.clone()),
        }
    }
}

pub(crate) struct Step<'a> {
    pub(crate) now: Millis,
    pub(crate) commands: &'a mut Vec<Command>,
}

impl Step<'_> {
    pub(crate) fn push_request(&mut self, ask: ReadRequest) {
        self.commands.push(Command::Ask(ask));
    }

    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        self.commands.push(Command::Notify(Notice::Warning(text.into())));
    }

    pub(crate) fn note(&mut self, text: String, fixed: Vec<String>) {
        self.commands.push(Command::Notify(Notice::Note { text, fixed }));
    }

    pub(crate) fn alarm(&mut self, text: impl Into<String>) {
        self.commands.push(Command::Notify(Notice::Alarm(text.into())));
    }

    /// Logs a warning about a change that observers receive as a separate notice.
    pub(crate) fn log_warning(&mut self, text: impl Into<String>) {
        self.commands.push(Command::Notify(Notice::Logged { text: text.into(), is_alarm: false }));
    }

    pub(crate) fn log_alarm(&mut self, text: impl Into<String>) {
        self.commands.push(Command::Notify(Notice::Logged { text: text.into(), is_alarm: true }));
    }
}

/// An input to the coordinator. The runner ends each batch of inputs with [`Input::Time`].
/// Events reach the session only at [`Input::Time`], so their order does not depend on the order of arrival.
#[derive(Debug)]
pub enum Input {
    Start,
    Answer(Answer),
    Tick(SymbolId, PriceTick),
    FeedEnded(SymbolId),
    /// Reason why the venue rejects the token, `None` once the venue accepts the token again.
    Token(Option<String>),
    Unrecognised(BTreeMap<String, u64>),
    /// Result of [`Command::MakeDurable`](super::Command::MakeDurable) for all entries recorded before that command.
    Durable(Result<(), JournalError>),
    EntryRefused,
    RenewJournal,
    JournalClosed(Result<(), JournalError>),
    ClockMoved(Millis),
    /// The process was suspended for this duration, for example because the computer slept. Venue time went on.
    ProcessSuspended(Duration),
    Order(ControlOrderId, ControlOrder),
    Stop(StopReason),
    /// Answer to [`Command::Finish`](super::Command::Finish): all pending answers have been delivered.
    Finish(StopReason),
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ControlOrderId(pub u64);

/// Identity of a request. No two pending requests have the same identity.
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
    TradeToAdopt(ControlOrderId),
    Settings,
    Open(IntentId),
}

#[derive(Debug)]
pub enum Answer {
    Candles(SeriesId, Result<Reply<Candles>, BrokerError>),
    Price(SymbolId, Millis, Result<Reply<PriceAnswer>, BrokerError>),
    Subscription(SymbolId, Result<StreamSupport, BrokerError>),
    Trade(IntentId, Result<Box<Reply<TradeReport>>, BrokerError>),
    Trades(TradeListing),
    BalancesAfterTrades(Result<Reply<Balances>, BrokerError>),
    Balances(Result<Reply<Balances>, BrokerError>),
    User(Result<Reply<Identity>, BrokerError>),
    SettlementPrice(Result<Reply<PriceAnswer>, BrokerError>),
    TradeToAdopt(ControlOrderId, Result<Box<Reply<TradeReport>>, BrokerError>),
    Settings(Result<Box<NewSettings>, String>),
    Open(IntentId, OpenOutcome),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamSupport {
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
            Self::TradeToAdopt(order, _) => RequestId::TradeToAdopt(*order),
            Self::Settings(_) => RequestId::Settings,
            Self::Open(intent, _) => RequestId::Open(*intent),
        }
    }

    /// Builds the answer to a request that failed due to an internal error. The outcome of an order is then unknown.
    pub fn from_failure(id: RequestId, now: Millis, text: String) -> Self {
        let error = BrokerError::Unavailable { text: text.clone() };
        match id {
            RequestId::Candles(series) => Self::Candles(series, Err(error)),
            RequestId::Price(symbol) => Self::Price(symbol, now, Err(error)),
            RequestId::Subscription(symbol) => Self::Subscription(symbol, Err(error)),
            RequestId::Trade(intent) => Self::Trade(intent, Err(error)),
            RequestId::Trades => Self::Trades(TradeListing {
                began: now,
                ended: now,
                end_error: Some(error),
                ..TradeListing::default()
            }),
            RequestId::BalancesAfterTrades => Self::BalancesAfterTrades(Err(error)),
            RequestId::Balances => Self::Balances(Err(error)),
            RequestId::User => Self::User(Err(error)),
            RequestId::SettlementPrice => Self::SettlementPrice(Err(error)),
            RequestId::TradeToAdopt(order) => Self::TradeToAdopt(order, Err(error)),
            RequestId::Settings => Self::Settings(Err(text)),
            RequestId::Open(intent) => Self::Open(intent, OpenOutcome::Unknown { reason: text }),
        }
    }
}

pub type RunResult = Result<super::FinishedRun, RuntimeError>;

/// An approved order whose intent is durable in the journal. Only orders of this type can be sent to the venue.
/// Only the [`Coordinator`](super::Coordinator) creates them, after checking that the signal is not late.
#[derive(Clone, Debug, PartialEq)]
pub struct DurableOrder {
    intent: IntentId,
    order: TradeOrder,
    leave_by: Millis,
}

impl DurableOrder {
    pub(super) const fn new(intent: IntentId, order: TradeOrder, leave_by: Millis) -> Self {
        Self { intent, order, leave_by }
    }

    pub const fn intent(&self) -> IntentId {
        self.intent
    }

    pub const fn order(&self) -> &TradeOrder {
        &self.order
    }

    /// Deadline for sending, by the local clock. An adapter must not send the order after this deadline.
    pub const fn send_deadline(&self) -> Millis {
        self.leave_by
    }
}

#[derive(Debug, Default)]
pub(crate) struct PendingRequests(BTreeSet<RequestId>);

impl PendingRequests {
    pub(crate) fn begin(&mut self, id: RequestId) {
        self.0.insert(id);
    }

    pub(crate) fn end(&mut self, id: RequestId) -> bool {
        self.0.remove(&id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, id: RequestId) -> bool {
        self.0.contains(&id)
    }

    pub(crate) fn has_list_request(&self) -> bool {
        self.contains(RequestId::Trades) || self.contains(RequestId::BalancesAfterTrades)
    }

    pub(crate) fn pending_open_intents(&self) -> impl Iterator<Item = IntentId> {
        self.0.iter().filter_map(|id| match id {
            RequestId::Open(intent) => Some(*intent),
            _ => None,
        })
    }
}

impl Coordinator {
    pub(super) fn request(&mut self, ask: ReadRequest, step: &mut Step<'_>) {
        self.requests.begin(ask.id());
        step.push_request(ask);
    }

    pub(crate) fn priority(&self, ask: &ReadRequest) -> Priority {
        match ask {
            ReadRequest::Trade(..)
            | ReadRequest::TradeToAdopt(..)
            | ReadRequest::Subscription(..)
            | ReadRequest::Settings(_) => Priority::Trades,
            ReadRequest::Trades | ReadRequest::BalancesAfterTrades if self.doubts.resolver.is_searching() => {
                Priority::Trades
            }
            ReadRequest::Balances if self.token_refused.is_some() => Priority::Trades,
            ReadRequest::Candles(..) => Priority::Candles,
            ReadRequest::Price(symbol, ..) if self.market.is_priced(*symbol) => Priority::Prices,
            ReadRequest::Trades
            | ReadRequest::BalancesAfterTrades
            | ReadRequest::Balances
            | ReadRequest::User
            | ReadRequest::Price(..)
            | ReadRequest::SettlementPrice(..) => Priority::Display,
        }
    }
}
