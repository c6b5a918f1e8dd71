//! Arrival of the candles of a series.

use super::candles::Levels;
use candlewick_engine::Origin;
use candlewick_sdk::{Candle, Interval, Millis, Series};
use std::collections::VecDeque;

const KEPT: usize = 200;

#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) series: Series,
    pub(crate) levels: Levels,
    pub(crate) last_close: Option<Millis>,
    pub(crate) last_received: Option<Millis>,
    pub(crate) live: u64,
    pub(crate) backfilled: u64,
    delays: VecDeque<Millis>,
}

impl Feed {
    pub(crate) fn new(series: Series) -> Self {
        Self {
            series,
            levels: Levels::new(series.interval.length()),
            last_close: None,
            last_received: None,
            live: 0,
            backfilled: 0,
            delays: VecDeque::new(),
        }
    }

    pub(crate) const fn interval(&self) -> Interval {
        self.series.interval
    }

    pub(crate) fn take(&mut self, candle: &Candle, origin: Origin, received: Millis) {
        let close = candle.close_time(self.series.interval);
        match origin {
            Origin::Live => {
                self.live += 1;
                self.delays.push_back(received - close);
                if self.delays.len() > KEPT {
                    self.delays.pop_front();
                }
            }
            Origin::Backfill => self.backfilled += 1,
        }
        if self.levels.take(candle) && self.last_close.is_none_or(|last| close > last) {
            (self.last_close, self.last_received) = (Some(close), Some(received));
        }
    }

    pub(crate) fn delay(&self, percent: usize) -> Option<Millis> {
        let mut sorted: Vec<Millis> = self.delays.iter().copied().collect();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1) - 1;
        sorted.get(rank).copied()
    }

    pub(crate) fn decimals(&self) -> usize {
        let bars = self.levels.all().first().map(|level| level.bars.iter().rev().take(60));
        // Without what binary fractions leave of decimal ones.
        let digits = |price: f64| {
            format!("{price:.8}").trim_end_matches('0').split_once('.').map_or(0, |(_, part)| part.len())
        };
        bars.into_iter().flatten().map(|bar| digits(bar.close)).max().unwrap_or(2).min(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Ohlcv;

    #[test]
    fn delays_are_those_of_live_candles() {
        let mut feed = Feed::new(Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE });
        for minute in 0..10 {
            let numbers = Ohlcv { open: 1.0, high: 2.0, low: 1.0, close: 1.25, volume: 0.0 };
            let candle = Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap();
            let close = candle.close_time(Interval::MINUTE);
            feed.take(&candle, Origin::Live, close + Millis::new(minute * 100));
            feed.take(&candle, Origin::Backfill, close + Millis::HOUR);
        }
        assert_eq!((feed.live, feed.backfilled, feed.decimals()), (10, 10, 2));
        assert_eq!(feed.delay(50), Some(Millis::new(400)));
        assert_eq!(feed.delay(90), Some(Millis::new(800)));
        assert_eq!(feed.last_received, Some(Millis::MINUTE * 10 + Millis::new(900)));
    }
}
