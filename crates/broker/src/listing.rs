//! A listing of the account's trades.

use crate::{BrokerError, TradeReport};
use candlewick_sdk::Millis;

/// The venue's list of the account's trades.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TradeListing {
    /// Time before the first request, by our clock. Later trades may be missing.
    pub began: Millis,
    /// Time after the last answer.
    pub ended: Millis,
    /// Whether a trade missing here was also missing in the venue's list.
    ///
    /// Listed trades exist in any case.
    pub is_complete: bool,
    /// Trades without duplicates, by identifier.
    pub trades: Vec<TradeReport>,
    /// Error that ended the listing early; it is incomplete then.
    pub ended_early: Option<BrokerError>,
}
