//! A market with one symbol, whose price is a formula.

use async_trait::async_trait;
use candlewick_broker::clock::Clock;
use candlewick_broker::{
    AsOf, BrokerError, CandleQuery, CandleRow, Candles, MarketData, PriceAnswer, PriceFeed, PriceRecord,
    PriceTick, Reply,
};
use candlewick_sdk::{Millis, Ohlcv, Symbol};
use std::sync::Arc;

/// The only symbol.
pub(crate) const SYMBOL: &str = "SINE";
/// Maximum number of buffered prices per subscriber.
const CAPACITY: usize = 64;

/// Returns the price at a given time: two waves, of ten minutes and of 47 seconds.
pub(crate) fn price_at(at: Millis) -> f64 {
    let wave = |seconds: f64| (at.get() as f64 / 1_000.0 / seconds * std::f64::consts::TAU).sin();
    100.0 + 5.0 * wave(600.0) + 0.4 * wave(47.0)
}

/// A market that is polled for prices.
pub struct SineMarket {
    clock: Arc<dyn Clock>,
}

/// Like [`SineMarket`], but prices cannot be polled: each subscriber receives one per second.
pub struct StreamedMarket {
    polled: SineMarket,
}

impl SineMarket {
    /// Creates a market with prices up to the time of this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }

    /// Builds a candle from the prices at each second of a time span.
    fn bar(open_time: Millis, length: Millis) -> CandleRow {
        let seconds = length.get() / 1_000;
        let prices: Vec<f64> =
            (0..seconds).map(|second| price_at(open_time + Millis::SECOND * second)).collect();
        let high = prices.iter().copied().fold(f64::MIN, f64::max);
        let low = prices.iter().copied().fold(f64::MAX, f64::min);
        let close = prices.last().copied().unwrap_or_default();
        let prices = Ohlcv { open: price_at(open_time), high, low, close, volume: 0.0 };
        CandleRow { time: open_time, prices }
    }
}

#[async_trait]
impl MarketData for SineMarket {
    async fn candles(&self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError> {
        check(&query.symbol)?;
        let (now, length) = (self.clock.now(), query.interval.length());
        let first = query.start.floor_to(length);
        let times = (0..).map(|number| first + length * number);
        let closed = times.take_while(|time| *time + length <= query.end.min(now));
        let rows: Vec<CandleRow> = closed.map(|time| Self::bar(time, length)).collect();
        Ok(Reply::without_latency(Candles::from_rows(&rows, query, now), now))
    }

    async fn price(&self, symbol: &Symbol, as_of: AsOf) -> Result<Reply<PriceAnswer>, BrokerError> {
        check(symbol)?;
        let now = self.clock.now();
        let at = match as_of {
            AsOf::Latest => now,
            AsOf::Moment(at) => at,
        };
        if at > now {
            return Ok(Reply::without_latency(PriceAnswer::NotYet, now));
        }
        let time = at.floor_to(Millis::SECOND);
        let price = price_at(time);
        let prices = Ohlcv { open: price, high: price, low: price, close: price, volume: 0.0 };
        Ok(Reply::without_latency(PriceAnswer::Record(PriceRecord { time, prices, created_time: None }), now))
    }
}

impl StreamedMarket {
    /// Creates a market that streams prices on this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { polled: SineMarket::new(clock) }
    }
}

#[async_trait]
impl MarketData for StreamedMarket {
    async fn candles(&self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError> {
        self.polled.candles(query).await
    }

    async fn price(&self, symbol: &Symbol, _as_of: AsOf) -> Result<Reply<PriceAnswer>, BrokerError> {
        Err(BrokerError::NotFound { text: format!("prices of {symbol} are only streamed") })
    }

    async fn subscribe(&self, symbol: &Symbol) -> Result<Option<PriceFeed>, BrokerError> {
        check(symbol)?;
        let (sender, feed) = PriceFeed::channel(CAPACITY);
        let clock = Arc::clone(&self.polled.clock);
        tokio::spawn(async move {
            let mut time = clock.now().floor_to(Millis::SECOND);
            let mut hold = clock.hold();
            while sender.send(PriceTick { time, price: price_at(time) }, hold) {
                time += Millis::SECOND;
                hold = clock.sleep_until(time).await;
            }
        });
        Ok(Some(feed))
    }
}

/// Checks that a symbol is [`SYMBOL`].
pub(crate) fn check(symbol: &Symbol) -> Result<(), BrokerError> {
    if symbol.as_str() == SYMBOL {
        return Ok(());
    }
    Err(BrokerError::NotFound { text: format!("there is no symbol {symbol}, only {SYMBOL}") })
}
