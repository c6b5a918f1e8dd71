//! A broker of your own: prices and fills of its own making, without a network.
//!
//! [`SineMarket`] knows prices and [`SineBroker`] fills orders at them: all that a live run needs of a venue. The market
//! is asked for prices; [`StreamedMarket`] is the same market, whose prices only stream. They stream for a strategy that wants prices,
//! as [`PriceTurns`] does.

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

/// 2026-11-20 12:00 UTC, when every session begins.
const START: Millis = Millis::new(1_795_176_000_000);

/// The market that is asked for its prices, and the broker. A session lasts four hours of a clock that jumps
/// from one moment that matters to the next, so it is over at once.
/// Fails with [`BrokerError::NotFound`] for a bot on a symbol that is not here.
pub fn polled(config: &Config) -> Result<VenuePorts, BrokerError> {
    let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new(START, Speed::Max));
    ports(config, Arc::new(SineMarket::new(Arc::clone(&clock))), clock)
}

/// The same, where prices stream.
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
    Ok(VenuePorts { market, broker, clock, until: Some(START + Millis::HOUR * 4) })
}
