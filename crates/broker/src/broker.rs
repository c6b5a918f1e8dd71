//! The port to whoever accepts trades.

use crate::{Balances, BrokerError, Identity, OpenOrder, OpenOutcome, Reply, TradeListing, TradeReport};
use async_trait::async_trait;
use candlewick_sdk::Millis;

/// How much of a trade is wanted, for venues where a part is cheaper to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What the venue knows by the identifier alone, for whoever reads its list besides.
    ById,
    /// Where it stands, and how it ended once it is over, with profit or payout where the venue says them anywhere.
    Progress,
    /// All that the venue says of it: what was ordered, times and prices. Where the full record cannot be had, what is
    /// known without it.
    Everything,
}

/// An account at a venue: opens trades, and says what became of them.
///
/// Every method ends by itself: each request has its deadline. Reading methods may repeat a request inside; a listing
/// may take many. [`Broker::open`] sends at most one request, ever.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Broker: Send + Sync {
    /// Opens a trade, unless its request cannot leave by `leave_by` (our clock): then it is not sent. [`Millis::MAX`]
    /// sets no limit.
    async fn open(&self, order: &OpenOrder, leave_by: Millis) -> OpenOutcome;

    /// One trade, by the venue's identifier.
    ///
    /// # Errors
    /// [`BrokerError::NotFound`] when there is no such trade; else why it could not be asked for.
    async fn trade(&self, id: &str, detail: Detail) -> Result<Reply<TradeReport>, BrokerError>;

    /// All trades of the account. What could be read is in the listing, also when it ended early.
    async fn trades(&self) -> TradeListing;

    /// What the accounts hold.
    ///
    /// # Errors
    /// Why it could not be asked for. A sum over a part of the money is never given.
    async fn balances(&self) -> Result<Reply<Balances>, BrokerError>;

    /// Whom the credentials belong to.
    ///
    /// # Errors
    /// Why it could not be asked for.
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
