//! Machine-readable reasons for which a venue refuses an order.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The venue's reason for refusing an order.
///
/// The number of a reason is hashed with each refusal and must never change. A new reason takes the
/// next number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// Any other reason.
    Other = 0,
    /// The symbol cannot be traded at present.
    SymbolInactive = 1,
    /// The price of the symbol is outdated or missing.
    OutdatedPrice = 2,
    /// Too many trades per minute, or in too short a time.
    TradesPerMinute = 3,
    /// Too many trades per day.
    TradesPerDay = 4,
    /// Too many open or pending trades.
    PendingLimit = 5,
    /// The wallet does not cover the stake.
    InsufficientBalance = 6,
    /// The stake is below the venue's minimum.
    AmountBelowMinimum = 7,
    /// The stake is above the venue's maximum.
    AmountAboveMaximum = 8,
    /// The account is not allowed to trade.
    AccountRestricted = 9,
}

impl RefusalReason {
    /// All reasons.
    pub const ALL: [Self; 10] = [
        Self::Other,
        Self::SymbolInactive,
        Self::OutdatedPrice,
        Self::TradesPerMinute,
        Self::TradesPerDay,
        Self::PendingLimit,
        Self::InsufficientBalance,
        Self::AmountBelowMinimum,
        Self::AmountAboveMaximum,
        Self::AccountRestricted,
    ];

    /// Returns whether the reason applies to all symbols of the account.
    pub const fn concerns_account(self) -> bool {
        matches!(
            self,
            Self::TradesPerMinute
                | Self::TradesPerDay
                | Self::PendingLimit
                | Self::InsufficientBalance
                | Self::AccountRestricted
        )
    }

    /// Returns a short phrase, such as `symbol not active`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Other => "other reason",
            Self::SymbolInactive => "symbol not active",
            Self::OutdatedPrice => "outdated price",
            Self::TradesPerMinute => "too many trades per minute",
            Self::TradesPerDay => "too many trades per day",
            Self::PendingLimit => "too many pending trades",
            Self::InsufficientBalance => "insufficient balance",
            Self::AmountBelowMinimum => "amount below the venue's minimum",
            Self::AmountAboveMaximum => "amount above the venue's maximum",
            Self::AccountRestricted => "account restricted",
        }
    }
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}
