//! Opening a trade: what is ordered, and what is known afterwards.

use crate::{Account, Reply, TradeReport};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{CloseType, Direction, ExpirationType, Millis, Symbol};

/// A trade to be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenOrder {
    /// Trading pair.
    pub symbol: Symbol,
    /// Up or down.
    pub direction: Direction,
    /// Stake.
    pub amount: Decimal,
    /// Duration code.
    pub close_type: CloseType,
    /// What the duration is counted from.
    pub expiration_type: ExpirationType,
    /// Whose money is at stake.
    pub account: Account,
}

/// What is known of an open. There is nothing else: an adapter says one of these, however the request ended.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenOutcome {
    /// The trade exists. What its report leaves out is known later.
    Opened(Reply<Box<TradeReport>>),
    /// The venue said no: no trade exists.
    Rejected(Rejection),
    /// The request was not sent: no trade exists.
    NotSent {
        /// Why.
        reason: String,
    },
    /// The request may have arrived, and no answer says whether it did: a trade may or may not exist. It is never
    /// sent again.
    Unknown {
        /// What happened.
        reason: String,
    },
}

/// The venue's no to an open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Why, as far as the venue says it in a way that a program can read.
    pub reason: RejectionReason,
    /// The venue's own words, in one line.
    pub text: String,
    /// The venue's time of the rejection, where it says it.
    pub venue_time: Option<Millis>,
}

/// Why a venue rejected an open, by its code or, as far as they are recognised, its words.
///
/// Every reason but [`Self::NoPrice`] and [`Self::Credentials`] pauses further opens for a while (`domain 4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectionReason {
    /// The venue has no price for the moment, as a simulator says by a code.
    NoPrice,
    /// The account does not cover the stake.
    InsufficientBalance,
    /// The credentials are missing, not accepted, or give no right to trade.
    Credentials,
    /// The symbol cannot be traded at present.
    SymbolInactive,
    /// The price of the symbol is outdated or missing.
    OutdatedPrice,
    /// Too many trades within a minute, or too fast.
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
    /// Anything else.
    Other,
}
