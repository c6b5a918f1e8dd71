//! A streaming market for tests, to which prices are pushed manually.

use crate::clock::Hold;
use crate::{
    AsOf, BrokerError, CandleQuery, Candles, MarketData, PriceAnswer, PriceFeed, PriceRecord, PriceSender,
    PriceTick, Reply,
};
use async_trait::async_trait;
use candlewick_sdk::{Millis, Ohlcv, Symbol};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

const WAITING: usize = 1_024;

/// A market whose prices are pushed by a test, for subscriptions and requests; it has no candles.
#[derive(Debug, Default)]
pub struct StreamingMarket(Mutex<BTreeMap<Symbol, Pushed>>);

#[derive(Debug, Default)]
struct Pushed {
    ticks: Vec<PriceTick>,
    subscribers: Vec<PriceSender>,
}

impl StreamingMarket {
    /// Creates a market without prices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a price of a symbol. Times must not decrease.
    pub fn push(&self, symbol: Symbol, tick: PriceTick) {
        let mut pushed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pushed = pushed.entry(symbol).or_default();
        pushed.ticks.push(tick);
        pushed.subscribers.retain(|subscriber| subscriber.send(tick, Hold::none()));
    }
}

#[async_trait]
impl MarketData for StreamingMarket {
    async fn candles(&self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError> {
        Ok(Reply::at(Candles::default(), query.end))
    }

    async fn price(&self, symbol: &Symbol, as_of: AsOf) -> Result<Reply<PriceAnswer>, BrokerError> {
        let pushed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ticks = pushed.get(symbol).map(|pushed| pushed.ticks.as_slice()).unwrap_or_default();
        let limit = match as_of {
            AsOf::Latest => Millis::MAX,
            AsOf::Moment(moment) => moment,
        };
        let tick = ticks.iter().rfind(|tick| tick.time <= limit).copied();
        let tick = tick.ok_or_else(|| BrokerError::NotFound { text: format!("no price of {symbol}") })?;
        let PriceTick { time, price } = tick;
        let prices = Ohlcv { open: price, high: price, low: price, close: price, volume: 0.0 };
        let record = PriceRecord { time, prices, recorded_time: None };
        Ok(Reply::at(PriceAnswer::Record(record), time))
    }

    async fn subscribe(&self, symbol: &Symbol) -> Result<Option<PriceFeed>, BrokerError> {
        let (sender, feed) = PriceFeed::channel(WAITING);
        let mut pushed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pushed.entry(*symbol).or_default().subscribers.push(sender);
        Ok(Some(feed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str) -> Symbol {
        Symbol::new(name).unwrap()
    }

    #[tokio::test]
    async fn a_subscriber_receives_the_prices_of_its_symbol_as_they_come() {
        let market = StreamingMarket::new();
        let mut feed = market.subscribe(&symbol("BTCUSDT")).await.unwrap().expect("it streams");
        let tick = PriceTick { time: Millis::SECOND, price: 64_000.5 };
        market.push(symbol("ETHUSDT"), PriceTick { price: 1.0, ..tick });
        market.push(symbol("BTCUSDT"), tick);
        let read = [feed.next().await, feed.try_next()];
        assert_eq!(read.map(|next| next.map(|(tick, _)| tick)), [Some(tick), None]);
        let asked = market.price(&symbol("BTCUSDT"), AsOf::Moment(Millis::MINUTE)).await.unwrap();
        assert_eq!(asked.value.record().map(|record| record.prices.close), Some(64_000.5));
    }
}
