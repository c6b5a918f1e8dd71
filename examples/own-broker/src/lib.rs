//! Your own broker: a simulated venue without a network.
//!
//! [`SineMarket`] provides prices and [`SineBroker`] fills orders at them. A live run needs nothing else. [`SineMarket`] is
//! polled for prices, and [`StreamedMarket`] only streams them. The strategy [`PriceTurns`] uses prices between candle
//! closes.

mod broker;
mod market;
mod turns;

pub use broker::SineBroker;
pub use market::{SineMarket, StreamedMarket};
pub use turns::PriceTurns;

use candlewick_broker::clock::{Clock, Speed, VirtualClock};
use candlewick_broker::{Broker, BrokerError, MarketData};
use candlewick_cli::{Config, VenuePorts};
use candlewick_sdk::Millis;
use std::sync::Arc;

/// Start of every session: 2026-11-20 12:00 UTC.
const START: Millis = Millis::new(1_795_176_000_000);

/// Connects to the polled market.
///
/// A session lasts four hours on a virtual clock, which jumps from one awaited time to the next. In real time, the session
/// ends almost immediately. Fails with [`BrokerError::NotFound`] for a bot on an unknown symbol.
pub fn polled(config: &Config) -> Result<VenuePorts, BrokerError> {
    let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new(START, Speed::Max));
    ports(config, Arc::new(SineMarket::new(Arc::clone(&clock))), clock)
}

/// Like [`polled`], with streamed prices.
pub fn streamed(config: &Config) -> Result<VenuePorts, BrokerError> {
    let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new(START, Speed::Max));
    ports(config, Arc::new(StreamedMarket::new(Arc::clone(&clock))), clock)
}

fn ports(
    config: &Config,
    market: Arc<dyn MarketData>,
    clock: Arc<dyn Clock>,
) -> Result<VenuePorts, BrokerError> {
    config.bots.iter().try_for_each(|bot| market::check(&bot.symbol))?;
    let broker: Arc<dyn Broker> = Arc::new(SineBroker::new(Arc::clone(&clock)));
    Ok(VenuePorts { market, broker, clock, end: Some(START + Millis::HOUR * 4) })
}
