//! Venue events, settled trades and trades that never settle.

use crate::Answer;
use candlewick_sdk::{Millis, Money, Outcome};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VenueEvent {
    Answered(Answer),
    Settled(SettledTrade),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettledTrade {
    pub number: u64,
    /// Time at which the settlement becomes known: close time plus settle delay.
    pub known_at: Millis,
    pub outcome: Outcome,
    /// Net profit: positive for a win, minus the stake for a loss, otherwise zero.
    pub profit: Money,
    pub open_price: Option<f64>,
    pub close_price: Option<f64>,
    pub open_time: Millis,
    pub close_time: Millis,
}

/// A trade that is still open when the data ends.
///
/// Its stake leaves the wallet when the answer is due, and does not return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsettledTrade {
    pub number: u64,
    pub stake: Money,
}

impl VenueEvent {
    #[inline]
    pub fn at(&self) -> Millis {
        match self {
            Self::Answered(answer) => answer.at,
            Self::Settled(trade) => trade.known_at,
        }
    }

    #[inline]
    pub fn number(&self) -> u64 {
        match self {
            Self::Answered(answer) => answer.number,
            Self::Settled(trade) => trade.number,
        }
    }
}
