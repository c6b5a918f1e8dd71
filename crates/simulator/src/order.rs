//! Orders, the venue's answers, settlements, and trades that never settle because the data ends.

use candlewick_sdk::{Direction, Expiry, Millis, Money, Outcome, Payout, Symbol};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    pub number: u64,
    pub symbol: Symbol,
    pub direction: Direction,
    pub stake: Money,
    pub expiry: Expiry,
    /// Time of the decision. The order arrives at the venue later, after the order latency.
    pub time: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    pub number: u64,
    pub at: Millis,
    pub kind: AnswerKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnswerKind {
    /// The trade is open. Its stake leaves the wallet when this answer is due.
    Opened(Opening),
    Refused(Refusal),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening {
    pub open_time: Millis,
    /// Entry price, `None` if the price is not known yet.
    /// A `NEXT_CANDLE` order is accepted before the candle that sets its price has opened. An entry at or after the end
    /// of the data has no price either.
    pub open_price: Option<f64>,
    pub close_time: Millis,
    pub payout: Payout,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoPrice,
    /// The wallet does not cover the stake when the order arrives, or the stake is not positive.
    InsufficientBalance,
    UnknownSymbol,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VenueEvent {
    Answered(Answer),
    Settled(SettledTrade),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettledTrade {
    pub number: u64,
    /// Time at which the settlement becomes known: close time plus settle delay of the venue.
    pub known_at: Millis,
    pub outcome: Outcome,
    /// Net profit: positive for a win, the negative stake for a loss, otherwise zero.
    pub profit: Money,
    pub open_price: Option<f64>,
    pub close_price: Option<f64>,
    pub open_time: Millis,
    pub close_time: Millis,
}

/// A trade that is still open at the end of the data.
/// Its stake leaves the wallet when the venue's answer is due, and does not return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsettledTrade {
    pub number: u64,
    pub stake: Money,
}

impl VenueEvent {
    #[inline]
    pub fn time(&self) -> Millis {
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
