//! What becomes known at the venue, and what never does.

use crate::Answer;
use candlewick_sdk::{Millis, Money, Outcome};

/// Something that became known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VenueEvent {
    /// An order arrived and was answered: opened or refused, never unanswered.
    Answered(Answer),
    /// A trade's settlement became known.
    Settled(SettledTrade),
}

/// A trade that ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettledTrade {
    /// The order's number.
    pub number: u64,
    /// When the settlement becomes known: the close time and the settle delay.
    pub known_at: Millis,
    /// How it ended.
    pub outcome: Outcome,
    /// Net: positive for a win, minus the stake for a loss, else zero.
    pub profit: Money,
    /// The entry price; `None` when there was none.
    pub open_price: Option<f64>,
    /// The exit price; `None` when there was none.
    pub close_price: Option<f64>,
    /// When it opened.
    pub open_time: Millis,
    /// When it closed.
    pub close_time: Millis,
}

/// A trade that the data never ends: its stake leaves the wallet when the answer is due, and does not return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsettledTrade {
    /// The order's number.
    pub number: u64,
    /// Its stake.
    pub stake: Money,
}

impl VenueEvent {
    /// When it became known.
    #[inline]
    pub fn at(&self) -> Millis {
        match self {
            Self::Answered(answer) => answer.at,
            Self::Settled(trade) => trade.known_at,
        }
    }

    /// The number of the order that it is about.
    #[inline]
    pub fn number(&self) -> u64 {
        match self {
            Self::Answered(answer) => answer.number,
            Self::Settled(trade) => trade.number,
        }
    }
}
