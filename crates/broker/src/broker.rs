//! The port to a venue that accepts trades.

use crate::{Balances, BrokerError, Identity, OpenOrder, OpenOutcome, Reply, TradeListing, TradeReport};
use async_trait::async_trait;
use candlewick_sdk::Millis;

/// Requested detail of a trade, since some venues serve a part at lower cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The data available by identifier only, for callers that also read the listing.
    ById,
    /// State of the trade, and its outcome once it is over.
    ///
    /// Includes profit or payout if the venue reports them anywhere.
    Progress,
    /// All data of the venue: order, times and prices.
    ///
    /// If the full record is unavailable, the data that is known without it.
    Everything,
}

/// An account at a venue: opens trades and reports their state.
///
/// Every method ends by itself, since each request has a deadline. Reading methods may repeat a
/// request internally, and a listing may take many requests. [`Broker::open`] sends at most one
/// request, ever.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Broker: Send + Sync {
    /// Opens a trade, unless its request cannot be sent by `leave_by`.
    ///
    /// `leave_by` is in our clock; [`Millis::MAX`] sets no limit.
    async fn open(&self, order: &OpenOrder, leave_by: Millis) -> OpenOutcome;

    /// Returns one trade by the venue's identifier.
    ///
    /// # Errors
    ///
    /// [`BrokerError::NotFound`] if there is no such trade, otherwise the failure of the request.
    async fn trade(&self, id: &str, detail: Detail) -> Result<Reply<TradeReport>, BrokerError>;

    /// Returns all trades of the account.
    ///
    /// A listing that ended early contains everything read until then.
    async fn trades(&self) -> TradeListing;

    /// Returns the balances of all accounts.
    ///
    /// # Errors
    ///
    /// The failure of the request. A partial sum is never returned.
    async fn balances(&self) -> Result<Reply<Balances>, BrokerError>;

    /// Returns the owner of the credentials.
    ///
    /// # Errors
    ///
    /// The failure of the request.
    async fn identity(&self) -> Result<Reply<Identity>, BrokerError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_broker_can_be_mocked_behind_the_port() {
        let mut mock = MockBroker::new();
        mock.expect_trade()
            .withf(|id, detail| id == "01JT" && *detail == Detail::Progress)
            .returning(|id, _| Ok(Reply::at(TradeReport::new(id), Millis::ZERO)));
        let broker: Box<dyn Broker> = Box::new(mock);
        let trade = broker.trade("01JT", Detail::Progress).await;
        assert_eq!(trade.map(|reply| reply.value.id), Ok("01JT".to_owned()));
    }
}
