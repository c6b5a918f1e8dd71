//! Commands of the coordinator to its runner.

use super::durable_open::DurableOpen;
use super::input::{OrderId, RequestId, RunResult};
use crate::Notice;
use crate::Stop;
use crate::control::ControlAnswer;
use crate::reload::Standing;
use candlewick_broker::CandleQuery;
use candlewick_engine::{Action, Entry, Event, Header, IntentId, SeriesId, SymbolId};
use candlewick_sdk::{Millis, Symbol};

#[allow(clippy::large_enum_variant, reason = "most commands are the large ones, and none is kept")]
#[derive(Debug)]
pub enum Command {
    Ask(Ask),
    /// Send this open exactly once; answered by [`Answer::Open`](super::Answer::Open).
    Send(DurableOpen),
    /// Record an entry. A refused one returns as
    /// [`Input::EntryRefused`](super::Input::EntryRefused).
    Record(JournalEntry),
    /// Make all recorded entries durable; answered by [`Input::Durable`](super::Input::Durable).
    ///
    /// More entries may be recorded meanwhile.
    MakeDurable,
    CloseJournal,
    Notify(Notice),
    AnswerOrder(OrderId, ControlAnswer),
    /// Let the clock catch up after sleep; answered by
    /// [`Input::ClockMoved`](super::Input::ClockMoved).
    CatchUpClock,
    WakeAt(Millis),
    /// Deliver all pending answers, then [`Input::Finish`](super::Input::Finish).
    Finish(Stop),
    End(Box<RunResult>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    Candles(SeriesId, CandleQuery),
    Price(SymbolId, Symbol, Millis),
    Subscription(SymbolId, Symbol),
    Trade(IntentId, String),
    Trades,
    BalancesAfterTrades,
    Balances,
    User,
    SettlementPrice(Symbol, Millis),
    NamedTrade(OrderId, IntentId, String),
    /// The current settings, read from local files instead of the venue.
    Settings(Box<Standing>),
}

impl Ask {
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

#[derive(Clone, Debug, PartialEq)]
pub enum JournalEntry {
    Header(Box<Header>),
    Event(Event),
    Action(Action),
    Note(Millis, String),
    NoteAbout(Millis, IntentId, String),
}

impl JournalEntry {
    pub fn of(entry: Entry<'_>) -> Self {
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

    /// Logs a warning without a notice, because it has one already.
    pub(crate) fn log_warning(&mut self, text: impl Into<String>) {
        self.commands.push(Command::Notify(Notice::Logged { text: text.into(), is_alarm: false }));
    }

    pub(crate) fn log_alarm(&mut self, text: impl Into<String>) {
        self.commands.push(Command::Notify(Notice::Logged { text: text.into(), is_alarm: true }));
    }
}
