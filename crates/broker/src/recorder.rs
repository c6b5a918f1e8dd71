//! Polling of one-second price records, including records missed since the last poll.

use crate::{AsOf, BrokerError, MarketData, PriceAnswer, PriceRecord};
use candlewick_sdk::{Candle, Interval, Millis, Symbol};
use std::sync::Arc;

const MAX_MISSED_RECORDS: usize = 5;

/// Poller for the one-second price records of a symbol.
pub struct PricePoller {
    market: Arc<dyn MarketData>,
    symbol: Symbol,
    last: Option<Candle>,
}

/// Result of one poll.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolledCandles {
    /// Completed one-second candles, sorted by time. A candle is returned again if its values have changed.
    pub candles: Vec<Candle>,
    /// Number of records that are not valid candles.
    pub invalid_records: usize,
    /// Lower bound on the venue time of the latest answer.
    pub answered_at: Millis,
}

impl PricePoller {
    /// Creates a poller for a trading pair. Sends no request yet.
    pub fn new(market: Arc<dyn MarketData>, symbol: Symbol) -> Self {
        Self { market, symbol, last: None }
    }

    /// Requests the latest record, and up to five that were missed since the previous poll.
    pub async fn poll(&mut self) -> Result<PolledCandles, BrokerError> {
        let mut recorded = PolledCandles::default();
        let since = self.last.map(|last| last.time());
        let mut limit = AsOf::Latest;
        for _ in 0..=MAX_MISSED_RECORDS {
            let reply = match self.market.price(&self.symbol, limit).await {
                Ok(reply) => reply,
                Err(error) if limit == AsOf::Latest => return Err(error),
                Err(_) => break,
            };
            let now = reply.date.map_or(reply.received, |date| date.min(reply.received));
            recorded.answered_at = recorded.answered_at.max(now);
            let PriceAnswer::Record(record) = reply.value else { break };
            if since.is_some_and(|since| record.time < since) || !is_at_or_before(&record, limit) {
                break;
            }
            // The current second may still change.
            if record.time + Millis::SECOND <= now {
                match to_candle(&record) {
                    Some(candle) => recorded.candles.push(candle),
                    None => recorded.invalid_records += 1,
                }
            }
            let before = record.time - Millis::SECOND;
            if since.map_or(!recorded.candles.is_empty(), |since| before <= since) {
                break;
            }
            limit = AsOf::Moment(before);
        }
        recorded.candles.retain(|candle| Some(*candle) != self.last);
        recorded.candles.reverse();
        self.last = recorded.candles.last().copied().or(self.last);
        Ok(recorded)
    }
}

fn is_at_or_before(record: &PriceRecord, limit: AsOf) -> bool {
    match limit {
        AsOf::Latest => true,
        AsOf::Moment(limit) => record.time <= limit,
    }
}

fn to_candle(record: &PriceRecord) -> Option<Candle> {
    Candle::new(record.time, Interval::SECOND, record.prices)
        .inspect_err(|error| {
            tracing::warn!(time = record.time.get(), %error, "the venue sent an invalid price record");
        })
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockMarketData, Reply};
    use candlewick_sdk::Ohlcv;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

    fn record(second: i64, price: f64) -> PriceRecord {
        let prices = Ohlcv { open: price, high: price, low: price, close: price, volume: 1.0 };
        PriceRecord { time: Millis::SECOND * second, prices, created_time: None }
    }

    struct Stage {
        records: Arc<Mutex<Vec<(i64, f64)>>>,
        now: Arc<AtomicI64>,
        requests: Arc<AtomicUsize>,
        poller: PricePoller,
    }

    impl Stage {
        fn new(records: &[(i64, f64)]) -> Self {
            let records = Arc::new(Mutex::new(records.to_vec()));
            let (now, requests) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicUsize::new(0)));
            let (all, clock, count) = (Arc::clone(&records), Arc::clone(&now), Arc::clone(&requests));
            let mut mock = MockMarketData::new();
            mock.expect_price().returning(move |_, limit| {
                count.fetch_add(1, Ordering::Relaxed);
                let now = clock.load(Ordering::Relaxed);
                let limit = match limit {
                    AsOf::Latest => now,
                    AsOf::Moment(limit) => limit.get(),
                };
                let all = all.lock().unwrap();
                let found = all.iter().rfind(|(second, _)| second * 1_000 <= limit.min(now));
                let value = found.map(|(second, price)| PriceAnswer::Record(record(*second, *price)));
                let value = value.ok_or(BrokerError::NotFound { text: "no price so far".into() })?;
                let (now, date) = (Millis::new(now), Millis::new(now).floor_to(Millis::SECOND));
                Ok(Reply { value, date: Some(date), sent: now, received: now })
            });
            let poller = PricePoller::new(Arc::new(mock), Symbol::new("BTCUSDT").unwrap());
            Self { records, now, requests, poller }
        }

        async fn check(&mut self, now: i64, expected: &[(i64, f64)], requests: usize) {
            self.now.store(now, Ordering::Relaxed);
            let before = self.requests.load(Ordering::Relaxed);
            let recorded = self.poller.poll().await.unwrap();
            let found: Vec<_> =
                recorded.candles.iter().map(|candle| (candle.time().get() / 1_000, candle.close())).collect();
            let asked = self.requests.load(Ordering::Relaxed) - before;
            assert_eq!((found.as_slice(), asked), (expected, requests), "at {now}");
        }
    }

    #[tokio::test]
    async fn records_every_completed_second_once() {
        let mut stage = Stage::new(&[(1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0), (5, 5.0), (9, 9.0)]);
        // Second 3 is running, so the first poll starts with second 2.
        stage.check(3_300, &[(2, 2.0)], 2).await;
        stage.check(4_300, &[(3, 3.0)], 2).await;
        stage.records.lock().unwrap().retain(|(second, _)| *second != 5);
        stage.check(5_300, &[(4, 4.0)], 1).await;
        stage.check(5_900, &[], 1).await;
        stage.check(10_000, &[(9, 9.0)], 2).await;
    }

    #[tokio::test]
    async fn late_poll_requests_a_limited_number_of_missed_records() {
        let all: Vec<(i64, f64)> = (1..40).map(|second| (second, second as f64)).collect();
        let mut stage = Stage::new(&all[..9]);
        stage.check(10_000, &[(9, 9.0)], 1).await;
        stage.records.lock().unwrap().extend(&all[9..12]);
        stage.check(13_000, &all[9..12], 3).await;
        stage.records.lock().unwrap().extend(&all[12..]);
        // Second 30 is running, so the poll returns five of the seconds before it.
        stage.check(30_999, &all[24..29], 6).await;
    }

    #[tokio::test]
    async fn repeats_changed_record() {
        let mut stage = Stage::new(&[(1, 1.0)]);
        stage.check(2_000, &[(1, 1.0)], 1).await;
        stage.check(2_500, &[], 1).await;
        stage.records.lock().unwrap()[0].1 = 1.5;
        stage.check(2_900, &[(1, 1.5)], 1).await;
    }

    #[tokio::test]
    async fn counts_invalid_records() {
        let mut stage = Stage::new(&[(1, -1.0)]);
        stage.now.store(5_000, Ordering::Relaxed);
        let recorded = stage.poller.poll().await.unwrap();
        assert_eq!((recorded.candles.len(), recorded.invalid_records), (0, 1));
        stage.records.lock().unwrap().clear();
        assert!(matches!(stage.poller.poll().await, Err(BrokerError::NotFound { .. })));
    }
}
