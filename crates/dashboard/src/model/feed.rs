//! Candles of a series: their arrival, and bars of several lengths.
//!
//! The number of bars per length is bounded, so older bars exist only at coarser lengths.

use candlewick_engine::Origin;
use candlewick_sdk::{Candle, Millis, Series};
use std::collections::VecDeque;

const MAX_DELAYS: usize = 200;

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

    pub(crate) fn take(&mut self, candle: &Candle, origin: Origin, received: Millis) {
        let close = candle.close_time(self.series.interval);
        match origin {
            Origin::Live => {
                self.live += 1;
                self.delays.push_back(received - close);
                if self.delays.len() > MAX_DELAYS {
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
        let bars = self.levels.0.first().map(|level| level.bars.iter().rev().take(60));
        // Removes rounding errors of binary fractions.
        let digits = |price: f64| {
            format!("{price:.8}").trim_end_matches('0').split_once('.').map_or(0, |(_, part)| part.len())
        };
        bars.into_iter().flatten().map(|bar| digits(bar.close)).max().unwrap_or(2).min(8)
    }
}

const MAX_BARS: usize = 1_500;
const FACTORS: [i64; 4] = [1, 5, 30, 240];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    pub(crate) time: Millis,
    pub(crate) open: f64,
    pub(crate) high: f64,
    pub(crate) low: f64,
    pub(crate) close: f64,
}

#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) length: Millis,
    pub(crate) bars: VecDeque<Bar>,
    /// Whether the level still has all bars since the first.
    pub(crate) is_whole: bool,
}

#[derive(Debug)]
pub(crate) struct Levels(pub(crate) Vec<Level>);

impl Levels {
    pub(crate) fn new(length: Millis) -> Self {
        // Allocates the full capacity at once, because growing lists fragment the heap.
        let bars = || VecDeque::with_capacity(MAX_BARS + 1);
        let level = |factor: i64| Level { length: length * factor, bars: bars(), is_whole: true };
        Self(FACTORS.map(level).into())
    }

    pub(crate) fn take(&mut self, candle: &Candle) -> bool {
        let bar = Bar {
            time: candle.time(),
            open: candle.open(),
            high: candle.high(),
            low: candle.low(),
            close: candle.close(),
        };
        let newest = self.0.first().and_then(|finest| finest.bars.back()).map(|bar| bar.time);
        if newest.is_some_and(|newest| bar.time <= newest) {
            return self.fill(bar);
        }
        self.0.iter_mut().for_each(|level| level.push(bar));
        true
    }

    /// Inserts a candle that was delayed by an outage, into the finest level only.
    fn fill(&mut self, bar: Bar) -> bool {
        let Some(finest) = self.0.first_mut() else { return false };
        let place = finest.bars.binary_search_by_key(&bar.time, |bar| bar.time);
        let Some(place) = place.err().filter(|place| *place > 0) else { return false };
        finest.bars.insert(place, bar);
        finest.trim();
        true
    }
}

impl Level {
    fn push(&mut self, bar: Bar) {
        let length = self.length.get().max(1);
        let time = Millis::new(bar.time.get().div_euclid(length) * length);
        match self.bars.back_mut().filter(|last| last.time == time) {
            Some(last) => {
                (last.high, last.low) = (last.high.max(bar.high), last.low.min(bar.low));
                last.close = bar.close;
            }
            None => self.bars.push_back(Bar { time, ..bar }),
        }
        self.trim();
    }

    fn trim(&mut self) {
        if self.bars.len() > MAX_BARS {
            self.bars.pop_front();
            self.is_whole = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Interval, Ohlcv};

    #[test]
    fn measures_delays_of_live_candles_only() {
        let mut feed = Feed::new(Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE });
        for minute in 0..10 {
            let candle = candle(minute, 1.25);
            let close = candle.close_time(Interval::MINUTE);
            feed.take(&candle, Origin::Live, close + Millis::new(minute * 100));
            feed.take(&candle, Origin::Backfill, close + Millis::HOUR);
        }
        assert_eq!((feed.live, feed.backfilled, feed.decimals()), (10, 10, 2));
        assert_eq!(feed.delay(50), Some(Millis::new(400)));
        assert_eq!(feed.delay(90), Some(Millis::new(800)));
        assert_eq!(feed.last_received, Some(Millis::MINUTE * 10 + Millis::new(900)));
    }

    fn candle(minute: i64, close: f64) -> Candle {
        let numbers = Ohlcv { open: 5.0, high: 5.0 + close, low: 1.0, close, volume: 0.0 };
        Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
    }

    #[test]
    fn memory_is_bounded_and_older_candles_are_coarser() {
        let mut levels = Levels::new(Millis::MINUTE);
        for minute in 0..525_600 {
            assert!(levels.take(&candle(minute, 1.0 + (minute % 7) as f64)));
        }
        let lengths: Vec<usize> = levels.0.iter().map(|level| level.bars.len()).collect();
        assert_eq!(lengths, [MAX_BARS; 4]);
        assert!(levels.0.iter().all(|level| !level.is_whole));
        let coarse = &levels.0[3];
        // 1,500 bars of four hours: 250 days.
        assert_eq!(coarse.bars[0].time, Millis::MINUTE * (525_600 - 250 * 1_440));
        assert_eq!((coarse.bars[0].open, coarse.bars[0].high, coarse.bars[0].low), (5.0, 12.0, 1.0));
        assert_eq!(coarse.bars[MAX_BARS - 1].close, 1.0 + f64::from(525_599 % 7));
    }

    #[test]
    fn ignores_repeated_candle_and_inserts_missed_one() {
        let mut levels = Levels::new(Millis::MINUTE);
        for minute in [1, 2, 4] {
            assert!(levels.take(&candle(minute, 2.0)));
        }
        assert!(!levels.take(&candle(2, 3.0)) && levels.take(&candle(3, 3.0)));
        let times: Vec<i64> = levels.0[0].bars.iter().map(|bar| bar.time.get() / 60_000).collect();
        assert_eq!(times, [1, 2, 3, 4]);
    }
}
