//! The ports to a venue, and the clock.
//!
//! [`MarketData`] provides candles and prices, [`Broker`] accepts trades; the transport is up to the adapter:
//! - [`Broker::open`] sends at most one request, ever, and reports whether a trade exists ([`OpenOutcome`]).
//! - Data that a venue omits is `None`, never zero. Unknown words are kept and counted ([`UnrecognisedData`]).
//! - No text in an error or a rejection contains a credential, and every method ends by itself.
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

pub use account::{Account, Balances, Identity, WalletName};
pub use adapter_state::{TokenState, UnrecognisedData};
#[cfg(any(test, feature = "mock"))]
pub use broker::MockBroker;
pub use broker::{Broker, Detail};
pub use candles::{CandleQuery, CandleRow, Candles, USUAL_INTERVALS, other_interval};
pub use download::{Download, DownloadSettings, Downloaded};
pub use error::BrokerError;
#[cfg(any(test, feature = "mock"))]
pub use market_data::MockMarketData;
pub use market_data::{AsOf, MarketData, PriceAnswer, PriceRecord};
pub use order::{OpenOrder, OpenOutcome, Rejection, RejectionReason};
pub use price_feed::{PriceFeed, PriceSender, PriceTick};
pub use recorder::{PriceRecorder, Recorded};
pub use report::{Funding, Progress, Reported, TradeListing, TradeReport};
pub use request::{Priority, Reply, Skew, at_priority, current_intent, current_priority, for_intent};
