//! The port to whoever accepts trades over the network.

use crate::model::{
    CandleQuery, CandleRows, LastPrice, LimitTime, PriceRecord, TradePage, TradeQuery, TradeRecord, User,
    Wallet,
};
use crate::{ApiError, OpenOrder, OpenReply, Reply};
use async_trait::async_trait;
use candlewick_sdk::{Millis, Symbol};

/// The eight requests of the two APIs. [`HttpVenue`](crate::HttpVenue) makes them over HTTP; with the feature
/// `mock`, `MockVenue` stands in for it in tests.
///
/// Every method ends by itself: each has its deadline. Reading methods may be repeated inside; [`Venue::open`]
/// sends at most one request, ever.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Venue: Send + Sync {
    /// All wallets of the authenticated user.
    async fn wallets(&self) -> Result<Reply<Vec<Wallet>>, ApiError>;

    /// One page of the trade list.
    async fn trades(&self, query: &TradeQuery) -> Result<Reply<TradePage>, ApiError>;

    /// One trade.
    async fn trade(&self, id: &str) -> Result<Reply<TradeRecord>, ApiError>;

    /// Opens a trade, unless its request cannot leave by `leave_by`: then it is not sent. [`Millis::MAX`] sets no limit.
    ///
    /// # Errors
    /// [`ApiError::Rejected`] and [`ApiError::NotSent`]: no trade exists. [`ApiError::Ambiguous`]: one may.
    /// No other variant is returned.
    async fn open(&self, order: &OpenOrder, leave_by: Millis) -> Result<Reply<OpenReply>, ApiError>;

    /// The profile of the authenticated user.
    async fn me(&self) -> Result<Reply<User>, ApiError>;

    /// The latest price record, or the latest at or before a moment.
    async fn last_price(&self, pair: &Symbol, limit: LimitTime) -> Result<Reply<LastPrice>, ApiError>;

    /// The price record of the default slot.
    async fn default_price(&self, pair: &Symbol) -> Result<Reply<PriceRecord>, ApiError>;

    /// Aggregated candles, as they come: see [`closed_candles`](crate::closed_candles).
    async fn candles(&self, query: &CandleQuery) -> Result<Reply<CandleRows>, ApiError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_venue_can_be_mocked_behind_the_port() {
        let mut mock = MockVenue::new();
        mock.expect_trade().withf(|id| id == "01JT").returning(|id| {
            Ok(Reply::at(TradeRecord { id: id.to_owned(), ..TradeRecord::default() }, Millis::ZERO))
        });
        let venue: Box<dyn Venue> = Box::new(mock);
        assert_eq!(venue.trade("01JT").await.map(|reply| reply.value.id), Ok("01JT".to_owned()));
    }
}
