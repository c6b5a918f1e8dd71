//! Candles in zoom levels.
//!
//! Each level joins four bars of the previous one, down to as many as fit a screen. A joined bar
//! opens with its first candle, closes with its last, and covers the range of all.

use candlewick_sdk::{Candle, Interval};

const JOINED: i64 = 4;
const FEW: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    /// Start, in multiples of the level's bar length since the epoch.
    pub(super) place: i64,
    pub(super) open: f64,
    pub(super) high: f64,
    pub(super) low: f64,
    pub(super) close: f64,
}

/// Bars of equal length; bars without a candle are omitted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    pub(super) length_ms: i64,
    pub(super) bars: Vec<Bar>,
}

impl Level {
    pub(super) fn all_of(candles: &[Candle], interval: Interval) -> Vec<Self> {
        let length_ms = interval.length().get();
        let bar = |candle: &Candle| Bar {
            place: candle.time().get().div_euclid(length_ms),
            open: candle.open(),
            high: candle.high(),
            low: candle.low(),
            close: candle.close(),
        };
        let mut levels = vec![Self { length_ms, bars: candles.iter().map(bar).collect() }];
        while let Some(last) = levels.last().filter(|last| last.bars.len() > FEW) {
            let next = last.joined();
            levels.push(next);
        }
        levels
    }

    fn joined(&self) -> Self {
        let mut bars: Vec<Bar> = Vec::with_capacity(self.bars.len() / 3);
        for bar in &self.bars {
            let place = bar.place.div_euclid(JOINED);
            match bars.last_mut().filter(|last| last.place == place) {
                Some(last) => {
                    last.high = last.high.max(bar.high);
                    last.low = last.low.min(bar.low);
                    last.close = bar.close;
                }
                None => bars.push(Bar { place, ..*bar }),
            }
        }
        Self { length_ms: self.length_ms * JOINED, bars }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Millis, Ohlcv};
    use proptest::prelude::*;

    fn candle((minute, open, close, above, below): (i64, u32, u32, u32, u32)) -> Candle {
        let [open, close] = [open, close].map(|ticks| f64::from(ticks) / 100.0);
        let (high, low) =
            (open.max(close) + f64::from(above) / 100.0, open.min(close) - f64::from(below) / 100.0);
        let numbers = Ohlcv { open, high, low, close, volume: 0.0 };
        Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
    }

    /// Candles with gaps, from before the epoch on.
    fn candles() -> impl Strategy<Value = Vec<Candle>> {
        let one = (1_i64..9, 1_000_u32..9_000, 1_000_u32..9_000, 0_u32..500, 0_u32..500);
        proptest::collection::vec(one, 1..3_000).prop_map(|rows| {
            let mut minute = -4_000;
            let next = |(gap, open, close, above, below)| {
                minute += if gap == 8 { 700 } else { 1 };
                candle((minute, open, close, above, below))
            };
            rows.into_iter().map(next).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_bar_shows_first_last_highest_and_lowest_of_its_candles(candles in candles()) {
            let levels = Level::all_of(&candles, Interval::MINUTE);
            prop_assert!(levels[levels.len() - 1].bars.len() <= FEW);
            for level in &levels {
                let mut rest = &candles[..];
                for bar in &level.bars {
                    let from = bar.place * level.length_ms;
                    let own = rest.partition_point(|candle| candle.time().get() < from + level.length_ms);
                    let (inside, later) = rest.split_at(own);
                    prop_assert!(inside.iter().all(|candle| candle.time().get() >= from));
                    let high = inside.iter().map(Candle::high).fold(f64::MIN, f64::max);
                    let low = inside.iter().map(Candle::low).fold(f64::MAX, f64::min);
                    let first = inside.first().map(Candle::open);
                    let last = inside.last().map(Candle::close);
                    prop_assert_eq!((Some(bar.open), bar.high, bar.low, Some(bar.close)), (first, high, low, last));
                    rest = later;
                }
                prop_assert!(rest.is_empty());
            }
        }
    }
}
