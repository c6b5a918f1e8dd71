//! A listing of the account's trades.

use crate::{BrokerError, TradeReport};
use candlewick_sdk::Millis;

/// What the venue's list of the account's trades held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TradeListing {
    /// Before the first of it was asked for, by our clock: what was not listed by then may be missing.
    pub began: Millis,
    /// After the last of it had come.
    pub ended: Millis,
    /// Whether a trade that is not in it was not in the venue's list. What is in it was there in any case.
    pub is_complete: bool,
    /// Each trade once, by identifier.
    pub trades: Vec<TradeReport>,
    /// What made it end early; it is not complete then.
    pub ended_early: Option<BrokerError>,
}
