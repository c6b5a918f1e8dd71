//! What a coordinator asks of its runner.

use super::durable_open::DurableOpen;
use super::input::{OrderId, RequestId, RunResult};
use crate::Notice;
use crate::Stop;
use crate::control::ControlAnswer;
use crate::reload::Standing;
use candlewick_broker::CandleQuery;
use candlewick_engine::{Action, Entry, Event, Header, IntentId, SeriesId, SymbolId};
use candlewick_sdk::{Millis, Symbol};

/// What to do, in this order.
#[allow(clippy::large_enum_variant, reason = "most commands are the large ones, and none is kept")]
#[derive(Debug)]
pub enum Command {
    /// Ask the venue; the answer comes back as [`Input::Answer`](super::Input::Answer).
    Ask(Ask),
    /// Send this open, once; what is known of it comes back as [`Answer::Open`](super::Answer::Open).
    Send(DurableOpen),
    /// Hand an entry to the journal. One that it refuses comes back as
    /// [`Input::EntryRefused`](super::Input::EntryRefused).
    Record(JournalEntry),
    /// Make durable all that was recorded; answered by [`Input::Durable`](super::Input::Durable). Entries may be recorded
    /// meanwhile.
    MakeDurable,
    /// Close the journal; answered by [`Input::JournalClosed`](super::Input::JournalClosed).
    CloseJournal,
    /// Hand this to whoever watches.
    Notify(Notice),
    /// Answer an order.
    AnswerOrder(OrderId, ControlAnswer),
    /// Let the clock catch up with what it missed while the machine slept; answered by
    /// [`Input::ClockMoved`](super::Input::ClockMoved).
    CatchUpClock,
    /// The next moment at which there is something to do without any input.
    WakeAt(Millis),
    /// Hand over every answer that has come, then [`Input::Finish`](super::Input::Finish).
    Finish(Stop),
    /// The run is over.
    End(Box<RunResult>),
}

/// One question to the venue, or to this process's own files: one call of a port.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// `MarketData::candles`.
    Candles(SeriesId, CandleQuery),
    /// `MarketData::price` at a moment of the price grid.
    Price(SymbolId, Symbol, Millis),
    /// `MarketData::subscribe`.
    Subscription(SymbolId, Symbol),
    /// `Broker::trade`: how it stands.
    Trade(IntentId, String),
    /// `Broker::trades`.
    Trades,
    /// `Broker::balances`, after the list.
    BalancesAfterTrades,
    /// `Broker::balances`.
    Balances,
    /// `Broker::identity`.
    User,
    /// `MarketData::price` at a moment of a settlement.
    SettlementPrice(Symbol, Millis),
    /// `Broker::trade`: everything of a trade that a person names for an intent. A person waits for the answer.
    NamedTrade(OrderId, IntentId, String),
    /// The settings as they are written now: asked of this process's own files, not of the venue.
    Settings(Box<Standing>),
}

impl Ask {
    /// Which question it is.
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
            Self::NamedTrade(order, ..) => RequestId::NamedTrade(*order),
            Self::Settings(_) => RequestId::Settings,
        }
    }
}

/// An entry of the journal, or a note beside the entries.
#[derive(Clone, Debug, PartialEq)]
pub enum JournalEntry {
    /// The first entry of a run.
    Header(Box<Header>),
    /// What the Session was handed.
    Event(Event),
    /// What the Session answered.
    Action(Action),
    /// An alarm, a finding.
    Note(Millis, String),
    /// A note that belongs to an intent.
    NoteAbout(Millis, IntentId, String),
}

impl JournalEntry {
    /// The same, of what a Session was handed or answered.
    pub fn of(entry: Entry<'_>) -> Self {
        match entry {
            Entry::Header(header) => Self::Header(Box::new(header.clone())),
            Entry::Event(event) => Self::Event(*event),
            Entry::Action(action) => Self::Action(action.clone()),
        }
    }
}

/// The moment of an input, and the commands that follow from it.
pub(crate) struct Step<'a> {
    pub(crate) now: Millis,
    pub(crate) commands: &'a mut Vec<Command>,
}

impl Step<'_> {
    pub(crate) fn ask(&mut self, ask: Ask) {
        self.commands.push(Command::Ask(ask));
    }

    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        self.commands.push(Command::Notify(Notice::Warning(text.into())));
    }

    pub(crate) fn note(&mut self, text: String, mended: Vec<String>) {
        self.commands.push(Command::Notify(Notice::Note { text, mended }));
    }

    pub(crate) fn alarm(&mut self, text: impl Into<String>) {
        self.commands.push(Command::Notify(Notice::Alarm(text.into())));
    }

    /// A warning of what has a notice of its own.
    pub(crate) fn log_warning(&mut self, text: impl Into<String>) {
        self.commands.push(Command::Notify(Notice::Logged { text: text.into(), is_alarm: false }));
    }

    /// An alarm of what has a notice of its own.
    pub(crate) fn log_alarm(&mut self, text: impl Into<String>) {
        self.commands.push(Command::Notify(Notice::Logged { text: text.into(), is_alarm: true }));
    }
}
