//! The port to a venue that accepts trades.

use crate::{Balances, BrokerError, Identity, OpenOrder, OpenOutcome, Reply, TradeListing, TradeReport};
use async_trait::async_trait;
use candlewick_sdk::Millis;

/// Requested detail of a trade, since some venues serve a part at lower cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The data available by identifier only, for callers that also read the listing.
    ById,
    /// State of the trade, with its outcome, profit or payout once it is over and reported anywhere.
    Progress,
    /// All data of the venue: order, times and prices, as far as available.
    Everything,
}

/// An account at a venue: opens trades and reports their state. Every method ends by itself.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Broker: Send + Sync {
    /// Opens a trade with at most one request, which leaves by `leave_by` (our clock) or never.
    async fn open(&self, order: &OpenOrder, leave_by: Millis) -> OpenOutcome;

    /// Returns one trade by the venue's identifier, or [`BrokerError::NotFound`].
    async fn trade(&self, id: &str, detail: Detail) -> Result<Reply<TradeReport>, BrokerError>;

    /// Returns all trades of the account; a listing that ended early has everything read until then.
    async fn trades(&self) -> TradeListing;

    /// Returns the balances of all accounts; never a partial sum.
    async fn balances(&self) -> Result<Reply<Balances>, BrokerError>;

    /// Returns the owner of the credentials.
    async fn identity(&self) -> Result<Reply<Identity>, BrokerError>;
}
