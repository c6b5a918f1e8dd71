//! A clock that runs fast, a venue that only its opens leave the process for, and a strategy that notes its signals.

use async_trait::async_trait;
use candlewick_api::HttpBroker;
use candlewick_broker::clock::{Clock, Hold};
use candlewick_broker::{
    AsOf, Balances, Broker, BrokerError, CandleQuery, CandleRow, Candles, DetailLevel, Identity, MarketData,
    OpenOutcome, PriceAnswer, Reply, TradeListing, TradeOrder, TradeReport,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Candle, Millis, Ohlcv, Signal, Strategy, Symbol};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(crate) type Moments = Arc<Mutex<Vec<Instant>>>;

/// A clock that is not virtual to the program, but runs so fast that a minute passes within a moment.
pub(crate) struct FastClock {
    pub(crate) began: Instant,
    pub(crate) start: Millis,
    pub(crate) minute: Duration,
}

#[async_trait]
impl Clock for FastClock {
    fn now(&self) -> Millis {
        let minutes = self.began.elapsed().as_secs_f64() / self.minute.as_secs_f64();
        self.start + Millis::new((minutes * 60_000.0) as i64)
    }

    async fn sleep_until(&self, at: Millis) -> Hold {
        let minutes = (at - self.start).get().clamp(0, 1 << 40) as f64 / 60_000.0;
        tokio::time::sleep_until((self.began + self.minute.mul_f64(minutes)).into()).await;
        Hold::none()
    }

    fn hold(&self) -> Hold {
        Hold::none()
    }

    fn is_virtual(&self) -> bool {
        false
    }

    fn is_lock_step(&self) -> bool {
        false
    }
}

pub(crate) struct Signaller(pub(crate) Moments);

impl Strategy for Signaller {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        self.0.lock().unwrap().push(Instant::now());
        Some(Signal::buy("every candle"))
    }
}

pub(crate) struct BenchVenue {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) client: HttpBroker,
    pub(crate) handed: Moments,
}

impl BenchVenue {
    fn reply<T>(&self, value: T) -> Reply<T> {
        Reply::without_latency(value, self.clock.now())
    }
}

#[async_trait]
impl Broker for BenchVenue {
    async fn open(&self, order: &TradeOrder, leave_by: Millis) -> OpenOutcome {
        self.handed.lock().unwrap().push(Instant::now());
        self.client.open(order, leave_by).await
    }

    async fn identity(&self) -> Result<Reply<Identity>, BrokerError> {
        Ok(self.reply(Identity::default()))
    }

    async fn balances(&self) -> Result<Reply<Balances>, BrokerError> {
        Ok(self.reply(Balances { demo: Some(Decimal::from(10_000)), real: None, ..Balances::default() }))
    }

    async fn trades(&self) -> TradeListing {
        let now = self.clock.now();
        TradeListing { began: now, ended: now, is_complete: true, ..TradeListing::default() }
    }

    async fn trade(&self, id: &str, _detail: DetailLevel) -> Result<Reply<TradeReport>, BrokerError> {
        Err(BrokerError::NotFound { text: id.to_owned() })
    }
}

#[async_trait]
impl MarketData for BenchVenue {
    async fn candles(&self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError> {
        let length = query.interval.length();
        let first = query.start.floor_to(length);
        let opens = std::iter::successors(Some(first), |open| Some(*open + length));
        let prices = Ohlcv { open: 100.0, close: 101.0, high: 102.0, low: 99.0, volume: 1.0 };
        let rows: Vec<CandleRow> =
            opens.take_while(|open| *open <= query.end).map(|time| CandleRow { time, prices }).collect();
        Ok(self.reply(Candles::from_rows(&rows, query, self.clock.now())))
    }

    async fn price(&self, pair: &Symbol, _as_of: AsOf) -> Result<Reply<PriceAnswer>, BrokerError> {
        Err(BrokerError::NotFound { text: pair.to_string() })
    }
}
