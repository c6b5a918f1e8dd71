//! Orders and the venue's answers.

use candlewick_sdk::{Direction, Expiry, Millis, Money, Payout, Symbol};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    pub number: u64,
    pub symbol: Symbol,
    pub direction: Direction,
    pub stake: Money,
    pub expiry: Expiry,
    /// Decision time; the order arrives one latency later.
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
    /// A trade, whose stake leaves the wallet when the answer is due.
    Opened(Opening),
    Refused(Refusal),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening {
    pub open_time: Millis,
    /// Entry price, `None` if it is not known yet.
    ///
    /// A `NEXT_CANDLE` is accepted before its candle opens and sets the price. Entries at or after
    /// the end of the data have no price either.
    pub open_price: Option<f64>,
    pub close_time: Millis,
    pub payout: Payout,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoPrice,
    /// The wallet does not cover the stake at arrival, or the stake is not positive.
    InsufficientBalance,
    UnknownSymbol,
}
