//! An order, and the venue's answer to it.

use candlewick_sdk::{Direction, Expiry, Millis, Money, Payout, Symbol};

/// One order as the caller sends it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// The caller's number for it (the intent number); answers and settlements carry it back.
    pub number: u64,
    /// The trading pair.
    pub symbol: Symbol,
    /// The bet.
    pub direction: Direction,
    /// What is bet: above zero.
    pub stake: Money,
    /// How the trade ends.
    pub expiry: Expiry,
    /// The decision time: the order arrives one latency later.
    pub time: Millis,
}

/// What the venue says to an order when it arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The order's number.
    pub number: u64,
    /// When the order arrives: the answer is due then.
    pub at: Millis,
    /// What is said.
    pub kind: AnswerKind,
}

/// The two ways an order can fare at its arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnswerKind {
    /// A trade: its stake leaves the wallet when the answer is due.
    Opened(Opening),
    /// No trade.
    Refused(Refusal),
}

/// The trade that an order became.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening {
    /// When the trade opens.
    pub open_time: Millis,
    /// The entry price; `None` for a `NEXT_CANDLE`, which is accepted before its candle opens and fixes its price,
    /// and for an entry at or after the end of the data.
    pub open_price: Option<f64>,
    /// When the trade closes.
    pub close_time: Millis,
    /// What a win pays.
    pub payout: Payout,
}

/// Why an order became no trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No candle covers the moment of entry.
    NoPrice,
    /// The wallet at the order's arrival does not cover the stake, or the stake is not above zero.
    InsufficientBalance,
    /// The venue has no such symbol.
    UnknownSymbol,
}
