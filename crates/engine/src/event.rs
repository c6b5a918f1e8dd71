//! What a Session is handed: events.

use crate::{IntentId, OrderTerms, OutsideSignal, RefusalReason, SeriesId, SymbolId, Taken};
use candlewick_sdk::{Candle, Millis, Money, Outcome, Payout, Price, Text};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};

/// The venue's name of a trade.
pub type VenueId = Text<63>;

/// Something that happened, and when.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Venue time of the fact. Decisions are stamped with it.
    pub at: Millis,
    /// Venue time of its arrival; equal to `at` in a backtest. Lateness and staleness compare the two.
    pub received: Millis,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The kinds of event.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// A candle has closed.
    Candle {
        /// Of which series.
        series: SeriesId,
        /// The candle.
        candle: Candle,
        /// Whether it may lead to trades.
        origin: Origin,
    },
    /// Somebody outside of the program asks for a trade of a bot.
    OutsideSignal(OutsideSignal),
    /// The latest price of a symbol, on the price grid.
    Price {
        /// Of which symbol.
        symbol: SymbolId,
        /// The price.
        price: Price,
    },
    /// The venue accepted an intent, or reported more of a trade that it accepted.
    Opened(Opened),
    /// The venue refused an intent: the stake is free again.
    Rejected {
        /// Which intent.
        intent: IntentId,
        /// Why.
        rejection: Rejection,
    },
    /// The request of an intent never left: the stake is free again.
    NotSent {
        /// Which intent.
        intent: IntentId,
    },
    /// The answer to an intent's request will not be known without looking.
    InDoubt {
        /// Which intent.
        intent: IntentId,
    },
    /// A trade that was found at the venue is this intent's: what was in doubt, or taken as not opened, is open.
    Adopted(Opened),
    /// The venue has no trade of an intent in doubt. Its stake stays reserved, because a trade may yet be found.
    NotOpened {
        /// Which intent.
        intent: IntentId,
        /// Until when its stake stays reserved.
        reserved_until: Millis,
    },
    /// The venue lists a trade with the terms of an intent that it rejected, or whose request counted as not sent: the
    /// intent is in doubt again and its stake is reserved. A Session forgets such intents, so the event has the terms.
    Reinstated(OrderTerms),
    /// A trade's final outcome is known.
    Settled(Settled),
    /// A person says how a trade ended that the venue no longer shows: nobody else will.
    SettledByPerson {
        /// Which intent.
        intent: IntentId,
        /// How it ended.
        outcome: Outcome,
        /// Net profit.
        profit: Money,
    },
    /// The result of a settled trade was wrong: two later readings of the venue agree on another one.
    Correction {
        /// The intent of the trade.
        intent: IntentId,
        /// The right outcome.
        outcome: Outcome,
        /// The right net profit.
        profit: Money,
    },
    /// The venue has a second trade of one request: its stake is at risk as well.
    SecondTrade(SecondTrade),
    /// A second trade of a request is over.
    SecondTradeSettled {
        /// Whose request it was.
        intent: IntentId,
        /// The venue's name of the trade.
        venue_id: VenueId,
        /// Net profit.
        profit: Money,
    },
    /// Money came into the wallet, or left it (below zero), and no trade explains it.
    Deposit {
        /// How much.
        amount: Money,
    },
    /// The wallet holds another amount than the trades explain. A shortage counts as lost.
    WalletDifference {
        /// Wallet minus explained balance: negative for a shortage, 0 when the difference has ended.
        amount: Money,
    },
    /// The wallet was read. The ledger decides; the wallet audits.
    Balance {
        /// What the wallet holds.
        amount: Money,
    },
    /// The clock was compared with the venue's.
    Skew {
        /// Ours minus theirs.
        offset: Millis,
    },
    /// A person, or the program's own end, has spoken.
    Control {
        /// What was ordered.
        control: Control,
    },
}

/// Where a candle came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It closed just now: a signal on it may be traded.
    Live,
    /// It was fetched later, for warm-up or after an outage: strategies see it, nothing is opened on it.
    Backfill,
}

/// An accepted trade. What the reply did not say is `None` and may come in a later event.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// Which intent.
    pub intent: IntentId,
    /// The venue's name of the trade; a simulator has none.
    pub venue_id: Option<VenueId>,
    /// When it opened.
    pub open_time: Option<Millis>,
    /// The price at which it opened.
    pub open_price: Option<f64>,
    /// When it will close.
    pub close_time: Option<Millis>,
    /// What a win pays.
    pub payout: Option<Payout>,
    /// What the venue took, where that is not what was ordered, or not what was known so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<Taken>,
}

/// A trade that the venue has beside the one that an intent asked for, of the same request as far as can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondTrade {
    /// Whose request it was.
    pub intent: IntentId,
    /// The venue's name of the trade.
    pub venue_id: VenueId,
    /// What it stakes.
    pub stake: Money,
}

/// A settlement. What the venue did not say is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// Which intent.
    pub intent: IntentId,
    /// How it ended.
    pub outcome: Outcome,
    /// Net profit.
    pub profit: Money,
    /// When it opened.
    pub open_time: Option<Millis>,
    /// The price at which it opened.
    pub open_price: Option<f64>,
    /// When it closed.
    pub close_time: Option<Millis>,
    /// The price at which it closed.
    pub close_price: Option<f64>,
    /// What a win paid.
    pub payout: Option<Payout>,
}

impl Settled {
    /// What a person says of a trade: nothing of times and prices.
    pub const fn by_person(intent: IntentId, outcome: Outcome, profit: Money) -> Self {
        Self {
            intent,
            outcome,
            profit,
            open_time: None,
            open_price: None,
            close_time: None,
            close_price: None,
            payout: None,
        }
    }
}

/// Why the venue refused an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// It has no price for the moment.
    NoPrice,
    /// The wallet does not cover the stake.
    InsufficientBalance,
    /// Anything else, in its own words. Simulators and journals of earlier versions; starts no pause.
    Other(Text<79>),
    /// A refusal by a real venue: starts a pause (rule `RefusedByVenue`).
    Refused {
        /// The reason as a program reads it.
        reason: RefusalReason,
        /// The venue's own words.
        text: Text<79>,
    },
}

impl Rejection {
    /// Returns whether the wallet does not cover the stake.
    pub const fn is_for_balance(&self) -> bool {
        matches!(
            self,
            Self::InsufficientBalance | Self::Refused { reason: RefusalReason::InsufficientBalance, .. }
        )
    }
}

impl Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPrice => f.write_str("it has no price for the moment"),
            Self::InsufficientBalance => f.write_str("the wallet does not cover the stake"),
            Self::Other(words) | Self::Refused { text: words, .. } => f.write_str(words.as_str()),
        }
    }
}

/// What is known of a bot's edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// Not enough trades yet.
    #[default]
    Open,
    /// Shown at some time, on the trades until then.
    Shown,
    /// Ruled out.
    Rejected,
    /// Shown before, and since then one of `delta` or more is not supported any more: it ended, or was smaller all along.
    NoLongerHeld,
}

impl Edge {
    /// Whether a bot of which this is known is not to trade, where the verdict is enforced.
    pub const fn forbids_trades(self) -> bool {
        matches!(self, Self::Rejected | Self::NoLongerHeld)
    }
}

/// Orders from outside the market.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// No new opens until resumed.
    Halt,
    /// Opens are allowed again; peak and loss streak start anew.
    Resume,
    /// No new opens while the program cannot keep its promises, such as that of the journal.
    Suspend,
    /// The reason to suspend is gone.
    Continue,
    /// The limits that were read again are in force from here.
    Reload,
}
