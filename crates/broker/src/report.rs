//! Trades and trade listings as a venue reports them.

use crate::{Account, BrokerError};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{CloseType, Direction, ExpirationType, Millis, Outcome, Payout};
use std::fmt;

/// A trade as the venue reports it. Data that is not (yet) reported is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TradeReport {
    /// The venue's identifier of the trade.
    pub id: String,
    /// State of the trade, including the outcome.
    pub progress: TradeProgress,
    /// Trading pair in the venue's spelling.
    pub symbol: Option<String>,
    /// Predicted direction of the price: up or down.
    pub direction: Option<ReportedValue<Direction>>,
    /// Stake of the trade.
    pub amount: Option<Decimal>,
    /// Duration of the trade, as a code such as `01:00`.
    pub close_type: Option<ReportedValue<CloseType>>,
    /// Reference point from which the duration is counted.
    pub expiration_type: Option<ReportedValue<ExpirationType>>,
    /// Account that pays the stake.
    pub account: Option<Account>,
    /// The venue's identifier of the trade's owner, if the owner is not the user of the credentials.
    pub other_user: Option<String>,
    /// Whether the trade was opened with an access token, rather than manually or by copy trading.
    pub is_opened_with_token: Option<bool>,
    /// Time at which the order arrived at the venue.
    pub request_time: Option<Millis>,
    /// Creation time of the venue's record, possibly truncated to whole seconds.
    pub created_time: Option<Millis>,
    /// Time at which the trade opened.
    pub open_time: Option<Millis>,
    /// Price at the open.
    pub open_price: Option<f64>,
    /// Time of the price record that supplied the open price.
    pub open_price_time: Option<Millis>,
    /// Time at which the trade closes or closed.
    pub close_time: Option<Millis>,
    /// Price at the close.
    pub close_price: Option<f64>,
    /// Time of the price record that supplied the close price.
    pub close_price_time: Option<Millis>,
    /// Payout of a win.
    pub payout: Option<Payout>,
    /// Reported payout in percent, set only if the payout is invalid: zero, negative or out of range.
    pub invalid_payout: Option<Decimal>,
    /// Net profit of a closed trade; negative for a loss.
    pub profit: Option<Decimal>,
    /// Whether the venue marks the trade as reverted.
    pub is_reverted: bool,
    /// Whether the outcome is derived from the status because the record has no result.
    pub is_outcome_from_status: bool,
    /// Amounts that the wallets paid for the stake, and additional charges by the venue.
    pub payment: Payment,
}

/// Amounts that the wallets paid for a stake, and additional charges by the venue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payment {
    /// Sum paid by the wallets; `None` if the venue lists no payments or some are unreadable.
    pub paid: Option<Decimal>,
    /// Stake implied by the wallets' percentages, if it clearly exceeds the ordered amount.
    pub implied_stake: Option<Decimal>,
    /// Part of the stake that bonus wallets paid.
    pub bonus: Decimal,
    /// The venue's fee.
    pub fee: Decimal,
    /// Commission for copy trading.
    pub commission: Decimal,
}

impl TradeReport {
    /// Creates the report of a running trade without further data.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }
}

/// State of a trade.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TradeProgress {
    /// The trade is still open, according to the venue.
    #[default]
    Running,
    /// The trade is over with this outcome.
    Over(Outcome),
    /// The trade is over, but its outcome is not reported (yet).
    OverWithoutOutcome,
    /// The venue reports an unknown state. The trade counts as neither over nor running.
    Unrecognised(String),
}

impl TradeProgress {
    /// Returns the outcome of the trade, once it is known.
    pub const fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Over(outcome) => Some(*outcome),
            Self::Running | Self::OverWithoutOutcome | Self::Unrecognised(_) => None,
        }
    }
}

/// A value reported by the venue, which the adapter may or may not recognise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportedValue<T> {
    /// A recognised value.
    Known(T),
    /// Any other value, as received.
    Unrecognised(String),
}

impl<T> ReportedValue<T> {
    /// Returns the value; `None` if the value is not recognised.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unrecognised(_) => None,
        }
    }
}

impl<T: fmt::Display> fmt::Display for ReportedValue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(value) => value.fmt(f),
            Self::Unrecognised(text) => f.pad(text),
        }
    }
}

/// The account's trades as listed by the venue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TradeListing {
    /// Time of the first request, on our clock. Trades opened later may be missing.
    pub began: Millis,
    /// Time of the last answer, on our clock.
    pub ended: Millis,
    /// Whether every trade in the venue's list was read. Otherwise, a missing trade may still exist.
    pub is_complete: bool,
    /// Trades, without duplicate identifiers.
    pub trades: Vec<TradeReport>,
    /// Error that ended the listing early. The listing is then incomplete.
    pub end_error: Option<BrokerError>,
}
