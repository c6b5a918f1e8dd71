//! What a venue says of a trade.

use crate::Account;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{CloseType, Direction, ExpirationType, Millis, Outcome, Payout};
use std::fmt;

/// A trade as the venue reports it. Only the identifier is certain: what a venue does not say, or not yet, is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TradeReport {
    /// The venue's identifier of the trade.
    pub id: String,
    /// Whether it is over, and how it ended.
    pub progress: Progress,
    /// Trading pair, as the venue writes it.
    pub symbol: Option<String>,
    /// Up or down.
    pub direction: Option<Reported<Direction>>,
    /// Stake.
    pub amount: Option<Decimal>,
    /// Duration code.
    pub close_type: Option<Reported<CloseType>>,
    /// What the duration is counted from.
    pub expiration_type: Option<Reported<ExpirationType>>,
    /// Whose money is at stake.
    pub account: Option<Account>,
    /// The venue's identifier of the user whose trade it is, if that is not the user of the credentials.
    pub other_user: Option<String>,
    /// Whether it was opened with an access token like ours, and not by hand, by a copy or by a bot of the venue's.
    pub from_token: Option<bool>,
    /// When the order arrived at the venue.
    pub request_time: Option<Millis>,
    /// When the venue made its record of the trade; perhaps cut to whole seconds.
    pub created_time: Option<Millis>,
    /// When the trade opened.
    pub open_time: Option<Millis>,
    /// Price at the open.
    pub open_price: Option<f64>,
    /// Time of the price record that the open price is from.
    pub open_price_time: Option<Millis>,
    /// When the trade closes, or closed.
    pub close_time: Option<Millis>,
    /// Price at the close.
    pub close_price: Option<f64>,
    /// Time of the price record that the close price is from.
    pub close_price_time: Option<Millis>,
    /// What a win pays.
    pub payout: Option<Payout>,
    /// What it says that a win pays, in percent, where that is no payout: 0, negative or beyond all bounds.
    pub impossible_payout: Option<Decimal>,
    /// Net profit of a trade that is over: negative for a loss.
    pub profit: Option<Decimal>,
    /// Whether the venue marks the trade as reverted.
    pub is_reverted: bool,
    /// Whether the outcome follows from the status only: the record has no result.
    pub is_by_status: bool,
    /// How the stake was paid.
    pub funding: Funding,
}

/// How a stake was paid, and what the venue charges beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Funding {
    /// Sum that the paying wallets name; `None` if the venue lists none, or not all readably.
    pub paid: Option<Decimal>,
    /// Stake that the wallets' percentages come to, where that is clearly more than the amount.
    pub by_percent: Option<Decimal>,
    /// Part of the stake that bonus wallets paid.
    pub bonus: Decimal,
    /// The venue's fee.
    pub fee: Decimal,
    /// Commission for copying.
    pub commission: Decimal,
}

impl TradeReport {
    /// A running trade of which nothing else is known.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }
}

/// Where a trade stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// It has not ended, as far as the venue says.
    #[default]
    Running,
    /// It is over, and this is how it ended.
    Over(Outcome),
    /// It is over; the venue does not say, or not yet, how it ended.
    OverUnreported,
    /// The venue says it in words that we do not know: neither over nor running follows from them.
    Unrecognised(String),
}

impl Progress {
    /// How the trade ended, once that is known.
    pub const fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Over(outcome) => Some(*outcome),
            Self::Running | Self::OverUnreported | Self::Unrecognised(_) => None,
        }
    }
}

/// A value of our own vocabulary as the venue reports it, or a text that is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported<T> {
    /// One that we know.
    Known(T),
    /// Anything else, as it came.
    Unrecognised(String),
}

impl<T> Reported<T> {
    /// The value, when it is one that we know.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unrecognised(_) => None,
        }
    }
}

impl<T: fmt::Display> fmt::Display for Reported<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(value) => value.fmt(f),
            Self::Unrecognised(text) => f.pad(text),
        }
    }
}
