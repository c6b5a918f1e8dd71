//! The trait for a source of candles and prices.

use crate::{BrokerError, CandleQuery, Candles, PriceFeed, Reply};
use async_trait::async_trait;
use candlewick_sdk::{Millis, Ohlcv, Symbol};

/// Time of a requested price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsOf {
    /// The latest price.
    Latest,
    /// The latest price at or before this time.
    Moment(Millis),
}

/// A price record: a one-second bar, or a single price that serves as open, high, low and close.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceRecord {
    /// Open time of the bar, or time of the price.
    pub time: Millis,
    /// Unvalidated prices in the quote currency. The latest price is the close.
    pub prices: Ohlcv,
    /// Time at which the venue created the record, if reported.
    pub created_time: Option<Millis>,
}

/// Answer to a price request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PriceAnswer {
    /// The requested record.
    Record(PriceRecord),
    /// The requested time is in the venue's future, so there is no price yet.
    NotYet,
}

impl PriceAnswer {
    /// Returns the record; `None` if there is no price yet.
    pub const fn record(&self) -> Option<&PriceRecord> {
        match self {
            Self::Record(record) => Some(record),
            Self::NotYet => None,
        }
    }
}

/// Market that provides closed candles and prices.
///
/// Methods may be called concurrently. Each method must return within a timeout set by the adapter.
/// See the [crate documentation](crate) for an example.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait MarketData: Send + Sync {
    /// Returns the closed candles of a window, validated, sorted and unique.
    ///
    /// Use [`Candles::from_rows`] for the validation. The venue may send fewer candles than requested, so a missing candle
    /// does not prove a gap.
    ///
    /// # Errors
    ///
    /// [`BrokerError::NotFound`] or [`BrokerError::Rejected`] if the venue has no such series.
    async fn candles(&self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError>;

    /// Returns the latest price record as of a given time.
    ///
    /// # Errors
    ///
    /// [`BrokerError::NotFound`] if the symbol does not exist or has no price yet.
    async fn price(&self, symbol: &Symbol, as_of: AsOf) -> Result<Reply<PriceAnswer>, BrokerError>;

    /// Subscribes to the prices of a symbol. Returns `None` (the default) if the adapter cannot stream prices.
    ///
    /// Create the feed with [`PriceFeed::channel`], and send prices from a task until
    /// [`PriceSender::send`](crate::PriceSender::send) returns false.
    async fn subscribe(&self, symbol: &Symbol) -> Result<Option<PriceFeed>, BrokerError> {
        let _ = symbol;
        Ok(None)
    }
}
