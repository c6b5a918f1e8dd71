//! Traits for connecting a venue: market data, broker and clock.
//!
//! To connect another venue, write an adapter that implements two traits:
//! - [`MarketData`]: closed candles and prices. Implement [`candles`](MarketData::candles) and [`price`](MarketData::price).
//! - [`Broker`]: opens trades and reports their state. Implement all of its methods.
//!
//! Return both from the function that you pass to `candlewick_cli::App::with_broker`, together with a [`clock::Clock`]:
//! [`clock::SystemClock`] for a real venue, [`clock::VirtualClock`] for a simulated one. `examples/own-broker` in the repository
//! is a complete adapter.
//!
//! # Rules for adapters
//!
//! - [`Broker::open`] never sends more than one request, and reports whether a trade exists ([`OpenOutcome`]).
//! - Every method must return eventually: set a timeout for each request.
//! - Data that the venue omits is `None`, never zero. Count unknown fields and values in [`UnrecognisedData`].
//! - Texts of errors and rejections never contain credentials.
//! - Times are milliseconds since the Unix epoch, money is an exact [`Decimal`](candlewick_sdk::rust_decimal::Decimal).
//!
//! # A market
//!
//! ```
//! use async_trait::async_trait;
//! use candlewick_broker::clock::Clock;
//! use candlewick_broker::{
//!     AsOf, BrokerError, CandleQuery, CandleRow, Candles, MarketData, PriceAnswer, PriceRecord, Reply,
//! };
//! use candlewick_sdk::{Millis, Ohlcv, Symbol};
//! use std::sync::Arc;
//!
//! /// A market whose price is always 1.
//! struct Flat {
//!     clock: Arc<dyn Clock>,
//! }
//!
//! const PRICES: Ohlcv = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
//!
//! #[async_trait]
//! impl MarketData for Flat {
//!     async fn candles(&self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError> {
//!         let (now, length) = (self.clock.now(), query.interval.length());
//!         let first = query.start.floor_to(length);
//!         let times = (0..).map(|number| first + length * number);
//!         let closed = times.take_while(|time| *time + length <= query.end.min(now));
//!         let rows: Vec<CandleRow> = closed.map(|time| CandleRow { time, prices: PRICES }).collect();
//!         Ok(Reply::without_latency(Candles::from_rows(&rows, query, now), now))
//!     }
//!
//!     async fn price(&self, _symbol: &Symbol, as_of: AsOf) -> Result<Reply<PriceAnswer>, BrokerError> {
//!         let now = self.clock.now();
//!         let time = match as_of {
//!             AsOf::Latest => now,
//!             AsOf::Moment(time) if time > now => return Ok(Reply::without_latency(PriceAnswer::NotYet, now)),
//!             AsOf::Moment(time) => time,
//!         };
//!         let time = time.floor_to(Millis::SECOND);
//!         let record = PriceRecord { time, prices: PRICES, created_time: None };
//!         Ok(Reply::without_latency(PriceAnswer::Record(record), now))
//!     }
//! }
//! ```
#![warn(missing_docs)]

mod account;
mod adapter_state;
mod broker;
mod candles;
pub mod clock;
mod download;
mod error;
mod market_data;
mod order;
mod price_feed;
mod recorder;
mod report;
mod request;

pub use account::{Account, Balances, Identity, WalletIdentity};
pub use adapter_state::{TokenState, UnrecognisedData};
#[cfg(any(test, feature = "mock"))]
pub use broker::MockBroker;
pub use broker::{Broker, DetailLevel};
pub use candles::{COMMON_INTERVALS, CandleQuery, CandleRow, Candles, detect_interval};
pub use download::{Download, DownloadSettings, DownloadedWindow};
pub use error::BrokerError;
#[cfg(any(test, feature = "mock"))]
pub use market_data::MockMarketData;
pub use market_data::{AsOf, MarketData, PriceAnswer, PriceRecord};
pub use order::{OpenOutcome, Rejection, RejectionReason, TradeOrder};
pub use price_feed::{PriceFeed, PriceSender, PriceTick};
pub use recorder::{PolledCandles, PricePoller};
pub use report::{Payment, ReportedValue, TradeListing, TradeProgress, TradeReport};
pub use request::{ClockSkew, Priority, Reply, current_intent, current_priority, with_intent, with_priority};
