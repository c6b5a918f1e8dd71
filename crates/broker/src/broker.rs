//! The trait for a venue that executes trades.

use crate::{Balances, BrokerError, Identity, OpenOutcome, Reply, TradeListing, TradeOrder, TradeReport};
use async_trait::async_trait;
use candlewick_sdk::Millis;

/// Level of detail requested for a trade. Some venues serve partial data at lower cost. An adapter may return more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetailLevel {
    /// Data that a request by trade id returns. The adapter does not search the trade list for more.
    ById,
    /// State of the trade. Includes outcome, profit and payout once they are known.
    Progress,
    /// All available data: order, times and prices.
    Everything,
}

/// Venue account that opens trades and reports their state.
///
/// Methods may be called concurrently. Each call must return within a timeout set by the adapter. The adapter may retry
/// reads that fail with a [temporary](BrokerError::is_temporary) error, but must never retry [`open`](Self::open).
/// [`current_priority`](crate::current_priority) tells a rate-limited adapter which request to send first.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Broker: Send + Sync {
    /// Opens a trade.
    ///
    /// Sends at most one request. Returns [`OpenOutcome::NotSent`] if the request cannot be sent by `leave_by` on our
    /// clock. Returns [`OpenOutcome::Unknown`] if the request was sent, but the answer is missing or unreadable. The run
    /// then searches the trade list for the trade.
    async fn open(&self, order: &TradeOrder, leave_by: Millis) -> OpenOutcome;

    /// Returns a trade by the venue's identifier.
    ///
    /// Used to complete a trade's data and outcome. Fails with [`BrokerError::NotFound`] if the trade does not exist.
    async fn trade(&self, id: &str, detail: DetailLevel) -> Result<Reply<TradeReport>, BrokerError>;

    /// Returns all trades of the account, open and closed, including trades from other programs.
    ///
    /// Used to find orders of unknown status and foreign trades. If an error ends the listing early, return the trades
    /// read so far and set [`TradeListing::end_error`]. Set [`TradeListing::is_complete`] only if no page is missing.
    async fn trades(&self) -> TradeListing;

    /// Returns the free balances of all accounts. Fails instead of returning incomplete balances.
    async fn balances(&self) -> Result<Reply<Balances>, BrokerError>;

    /// Returns the owner of the credentials, or [`BrokerError::Credentials`] if the venue rejects them.
    async fn identity(&self) -> Result<Reply<Identity>, BrokerError>;
}
