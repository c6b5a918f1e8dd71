//! The port to a venue that accepts trades.

use crate::{Balances, BrokerError, Identity, OpenOrder, OpenOutcome, Reply, TradeListing, TradeReport};
use async_trait::async_trait;
use candlewick_sdk::Millis;

/// Requested detail of a trade. Some venues serve a part at lower cost; an adapter may always return more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Only data that [`Broker::trades`] does not have.
    ById,
    /// State of the trade, with outcome, profit or payout once they are known.
    Progress,
    /// All available data: order, times and prices.
    Everything,
}

/// An account at a venue: opens trades and reports their state.
///
/// Methods may be called concurrently. Each must end by itself, within a timeout of the adapter. It may
/// repeat reads that fail with a [temporary](BrokerError::is_temporary) error, but never [`open`](Self::open). [`current_priority`](crate::current_priority) tells a rate-limited adapter which request to send
/// first.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Broker: Send + Sync {
    /// Opens a trade.
    ///
    /// Sends at most one request, by `leave_by` on our clock or not at all ([`OpenOutcome::NotSent`]). If the request was
    /// sent and the answer is missing or unreadable, returns [`OpenOutcome::Unknown`]: the run then searches the listing
    /// for the trade.
    async fn open(&self, order: &OpenOrder, leave_by: Millis) -> OpenOutcome;

    /// Returns a trade by the venue's identifier.
    ///
    /// Used to complete the data of a trade and to find its outcome. Fails with [`BrokerError::NotFound`] if there is none.
    async fn trade(&self, id: &str, detail: Detail) -> Result<Reply<TradeReport>, BrokerError>;

    /// Returns all trades of the account, open and closed, including those of other programs.
    ///
    /// Used to find orders of unknown status and unknown trades. If an error ends the listing early, return what was read
    /// with [`TradeListing::ended_early`]. Set [`TradeListing::is_complete`] only if no page is missing.
    async fn trades(&self) -> TradeListing;

    /// Returns the free balances of all accounts. Fails instead of returning a partial sum.
    async fn balances(&self) -> Result<Reply<Balances>, BrokerError>;

    /// Returns the owner of the credentials. Fails with [`BrokerError::Credentials`] if the venue does not accept them.
    async fn identity(&self) -> Result<Reply<Identity>, BrokerError>;
}
