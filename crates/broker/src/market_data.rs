//! The port to whoever knows prices.

use crate::{BrokerError, CandleQuery, Candles, PriceFeed, Reply};
use async_trait::async_trait;
use candlewick_sdk::{Millis, Ohlcv, Symbol};

/// Which price to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsOf {
    /// The newest there is.
    Latest,
    /// The newest at or before this moment.
    Moment(Millis),
}

/// A price record: a bar of one second, or a single price in all four places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceRecord {
    /// Open time of the bar, or the moment of the price.
    pub time: Millis,
    /// As the venue sent them: nothing about them has been checked. The latest price is the close.
    pub prices: Ohlcv,
    /// When the venue made the record, where it says it.
    pub recorded_time: Option<Millis>,
}

/// The answer to a question for a price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PriceAnswer {
    /// The record.
    Record(PriceRecord),
    /// The moment lies in the venue's future: there is no price of it yet.
    NotYet,
}

impl PriceAnswer {
    /// The record, where there is one.
    pub const fn record(&self) -> Option<&PriceRecord> {
        match self {
            Self::Record(record) => Some(record),
            Self::NotYet => None,
        }
    }
}

/// The market: closed candles, and prices.
///
/// Every method ends by itself: each request has its deadline, and may be repeated inside.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait MarketData: Send + Sync {
    /// The closed candles of a window, checked, by time, each once.
    ///
    /// A long window may take several requests. Where a venue gives fewer candles than it has and does not say so, an
    /// answer has holes, so nothing is concluded from what is missing in it.
    ///
    /// # Errors
    /// [`BrokerError::NotFound`] or [`BrokerError::Rejected`] when the venue has no such series; else why it could not
    /// be asked for.
    async fn candles(&self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError>;

    /// The newest price record as of a moment.
    ///
    /// # Errors
    /// [`BrokerError::NotFound`] when there is no such symbol, or no price of it so far; else why it could not be asked
    /// for.
    async fn price(&self, symbol: &Symbol, as_of: AsOf) -> Result<Reply<PriceAnswer>, BrokerError>;

    /// Prices as they come, from now on; `None` from an adapter that has only [`MarketData::price`] to ask. A run subscribes at its
    /// start to each symbol whose prices a strategy wants; the strategy sees those of the price grid.
    ///
    /// # Errors
    /// [`BrokerError::NotFound`] when there is no such symbol; else why it could not be subscribed to.
    async fn subscribe(&self, symbol: &Symbol) -> Result<Option<PriceFeed>, BrokerError> {
        let _ = symbol;
        Ok(None)
    }
}
