//! Candle feed of one series: arrival times of candles, and price bars at several levels of detail.
//!
//! Each level stores a limited number of bars, so old bars are available only at coarse levels.

use candlewick_engine::Origin;
use candlewick_sdk::{Candle, Millis, Series};
use std::collections::VecDeque;

const MAX_STORED_DELAYS: usize = 200;

#[derive(Debug)]
pub(crate) struct CandleFeed {
    pub(crate) series: Series,
    pub(crate) levels: BarLevels,
    pub(crate) last_close: Option<Millis>,
    pub(crate) last_received: Option<Millis>,
    pub(crate) live_candles: u64,
    pub(crate) backfilled_candles: u64,
    delays: VecDeque<Millis>,
}

impl CandleFeed {
    pub(crate) fn new(series: Series) -> Self {
        Self {
            series,
            levels: BarLevels::new(series.interval.length()),
            last_close: None,
            last_received: None,
            live_candles: 0,
            backfilled_candles: 0,
            delays: VecDeque::new(),
        }
    }

    pub(crate) fn add_candle(&mut self, candle: &Candle, origin: Origin, received: Millis) {
        let close = candle.close_time(self.series.interval);
        match origin {
            Origin::Live => {
                self.live_candles += 1;
                self.delays.push_back(received - close);
                if self.delays.len() > MAX_STORED_DELAYS {
                    self.delays.pop_front();
                }
            }
            Origin::Backfill => self.backfilled_candles += 1,
        }
        if self.levels.add_candle(candle) && self.last_close.is_none_or(|last| close > last) {
            (self.last_close, self.last_received) = (Some(close), Some(received));
        }
    }

    pub(crate) fn delay_percentile(&self, percent: usize) -> Option<Millis> {
        let mut sorted: Vec<Millis> = self.delays.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get((sorted.len() * percent).div_ceil(100).max(1) - 1).copied()
    }

    pub(crate) fn price_decimals(&self) -> usize {
        let bars = self.levels.0.first().map(|level| level.bars.iter().rev().take(60));
        // Rounding removes the errors of binary fractions.
        let digits = |price: f64| {
            format!("{price:.8}").trim_end_matches('0').split_once('.').map_or(0, |(_, part)| part.len())
        };
        bars.into_iter().flatten().map(|bar| digits(bar.close)).max().unwrap_or(2).min(8)
    }
}

const MAX_BARS_PER_LEVEL: usize = 1_500;
const LEVEL_FACTORS: [i64; 4] = [1, 5, 30, 240];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    pub(crate) time: Millis,
    pub(crate) open: f64,
    pub(crate) high: f64,
    pub(crate) low: f64,
    pub(crate) close: f64,
}

#[derive(Debug)]
pub(crate) struct BarLevel {
    pub(crate) bar_length: Millis,
    pub(crate) bars: VecDeque<Bar>,
    /// Whether this level still has all bars since the first candle. False after a bar was evicted.
    pub(crate) is_complete: bool,
}

#[derive(Debug)]
pub(crate) struct BarLevels(pub(crate) Vec<BarLevel>);

impl BarLevels {
    pub(crate) fn new(length: Millis) -> Self {
        // Allocates the full capacity at once, because lists that grow fragment the heap.
        let bars = || VecDeque::with_capacity(MAX_BARS_PER_LEVEL + 1);
        let level = |factor: i64| BarLevel { bar_length: length * factor, bars: bars(), is_complete: true };
        Self(LEVEL_FACTORS.map(level).into())
    }

    pub(crate) fn add_candle(&mut self, candle: &Candle) -> bool {
        let bar = Bar {
            time: candle.time(),
            open: candle.open(),
            high: candle.high(),
            low: candle.low(),
            close: candle.close(),
        };
        let newest = self.0.first().and_then(|finest| finest.bars.back()).map(|bar| bar.time);
        if newest.is_some_and(|newest| bar.time <= newest) {
            return self.insert_late_bar(bar);
        }
        self.0.iter_mut().for_each(|level| level.push(bar));
        true
    }

    /// Inserts a bar that arrived late because of an outage. Does not update the coarser levels.
    fn insert_late_bar(&mut self, bar: Bar) -> bool {
        let Some(finest) = self.0.first_mut() else { return false };
        let place = finest.bars.binary_search_by_key(&bar.time, |bar| bar.time);
        let Some(place) = place.err().filter(|place| *place > 0) else { return false };
        finest.bars.insert(place, bar);
        finest.evict_excess_bars();
        true
    }
}

impl BarLevel {
    fn push(&mut self, bar: Bar) {
        let length = self.bar_length.get().max(1);
        let time = Millis::new(bar.time.get().div_euclid(length) * length);
        match self.bars.back_mut().filter(|last| last.time == time) {
            Some(last) => {
                (last.high, last.low) = (last.high.max(bar.high), last.low.min(bar.low));
                last.close = bar.close;
            }
            None => self.bars.push_back(Bar { time, ..bar }),
        }
        self.evict_excess_bars();
    }

    fn evict_excess_bars(&mut self) {
        if self.bars.len() > MAX_BARS_PER_LEVEL {
            self.bars.pop_front();
            self.is_complete = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Interval, Ohlcv};

    #[test]
    fn measures_delays_of_live_candles_only() {
        let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE };
        let mut feed = CandleFeed::new(series);
        for minute in 0..10 {
            let candle = candle(minute, 1.25);
            let close = candle.close_time(Interval::MINUTE);
            feed.add_candle(&candle, Origin::Live, close + Millis::new(minute * 100));
            feed.add_candle(&candle, Origin::Backfill, close + Millis::HOUR);
        }
        assert_eq!((feed.live_candles, feed.backfilled_candles, feed.price_decimals()), (10, 10, 2));
        assert_eq!(feed.delay_percentile(50), Some(Millis::new(400)));
        assert_eq!(feed.delay_percentile(90), Some(Millis::new(800)));
        assert_eq!(feed.last_received, Some(Millis::MINUTE * 10 + Millis::new(900)));
    }

    fn candle(minute: i64, close: f64) -> Candle {
        let numbers = Ohlcv { open: 5.0, high: 5.0 + close, low: 1.0, close, volume: 0.0 };
        Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
    }

    #[test]
    fn memory_is_bounded_and_older_candles_are_coarser() {
        let mut levels = BarLevels::new(Millis::MINUTE);
        for minute in 0..525_600 {
            assert!(levels.add_candle(&candle(minute, 1.0 + (minute % 7) as f64)));
        }
        let lengths: Vec<usize> = levels.0.iter().map(|level| level.bars.len()).collect();
        assert_eq!(lengths, [MAX_BARS_PER_LEVEL; 4]);
        assert!(levels.0.iter().all(|level| !level.is_complete));
        let coarse = &levels.0[3];
        // The level has 1,500 bars of four hours, which cover 250 days.
        assert_eq!(coarse.bars[0].time, Millis::MINUTE * (525_600 - 250 * 1_440));
        assert_eq!((coarse.bars[0].open, coarse.bars[0].high, coarse.bars[0].low), (5.0, 12.0, 1.0));
        assert_eq!(coarse.bars[MAX_BARS_PER_LEVEL - 1].close, 1.0 + f64::from(525_599 % 7));
    }

    #[test]
    fn ignores_repeated_candle_and_inserts_missed_one() {
        let mut levels = BarLevels::new(Millis::MINUTE);
        for minute in [1, 2, 4] {
            assert!(levels.add_candle(&candle(minute, 2.0)));
        }
        assert!(!levels.add_candle(&candle(2, 3.0)) && levels.add_candle(&candle(3, 3.0)));
        let times: Vec<i64> = levels.0[0].bars.iter().map(|bar| bar.time.get() / 60_000).collect();
        assert_eq!(times, [1, 2, 3, 4]);
    }
}
