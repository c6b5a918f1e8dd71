//! Orders to open a trade, and their outcomes.

use crate::{Account, Reply, TradeReport};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{CloseType, Direction, ExpirationType, Millis, Symbol};

/// An order to open a trade.
#[derive(Clone, Debug, PartialEq)]
pub struct TradeOrder {
    /// Trading pair.
    pub symbol: Symbol,
    /// Predicted direction of the price: up or down.
    pub direction: Direction,
    /// Stake of the trade.
    pub amount: Decimal,
    /// Duration of the trade, as a code such as `01:00`.
    pub close_type: CloseType,
    /// Reference point from which the duration is counted.
    pub expiration_type: ExpirationType,
    /// Account that pays the stake.
    pub account: Account,
}

/// Outcome of an order to open a trade.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenOutcome {
    /// The trade exists. Data that is missing from the report may become known later.
    Opened(Reply<Box<TradeReport>>),
    /// The venue declined the order: no trade exists.
    Rejected(Rejection),
    /// The request was not sent: no trade exists.
    NotSent {
        /// Description of the reason.
        reason: String,
    },
    /// The request was sent, but no readable answer arrived: a trade may exist. The request is never repeated.
    Unknown {
        /// Description of the failure.
        reason: String,
    },
}

/// Details of an order that the venue declined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Machine-readable reason, [`RejectionReason::Other`] if the venue gives no reason.
    pub reason: RejectionReason,
    /// Message from the venue, on one line.
    pub text: String,
    /// Time at which the order was declined, on the venue's clock, if known.
    pub venue_time: Option<Millis>,
}

/// Reason for declining an order. All reasons except `NoPrice` and `Credentials` pause trading (see `domain 4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectionReason {
    /// The venue currently has no price. Only simulators report this reason.
    NoPrice,
    /// The account does not cover the stake.
    InsufficientBalance,
    /// The credentials are missing, not accepted, or do not permit trading.
    Credentials,
    /// The symbol cannot be traded at present.
    SymbolInactive,
    /// The price of the symbol is outdated or missing.
    OutdatedPrice,
    /// Too many trades within a minute, or in too quick succession.
    TradesPerMinute,
    /// Too many trades within a day.
    TradesPerDay,
    /// Too many trades are open or pending.
    PendingLimit,
    /// The amount is below the venue's minimum.
    AmountBelowMinimum,
    /// The amount is above the venue's maximum.
    AmountAboveMaximum,
    /// The account may not trade.
    AccountRestricted,
    /// Any other reason.
    Other,
}
