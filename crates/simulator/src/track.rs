//! One series of candles, found by time without a search where no candle is missing.

use candlewick_sdk::{Candle, CandleSeries, Interval, Millis};

/// Which candle a moment on a boundary belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// The candle that opens there.
    Opens,
    /// The candle that ends there.
    Ends,
}

/// The candle slot that a moment falls into.
pub(crate) enum Slot<'a> {
    /// Its candle is there.
    Filled(&'a Candle),
    /// Its candle is missing; the last one before it closed this many intervals before the slot's end.
    Missing {
        /// The last candle before the slot.
        last: &'a Candle,
        /// How many candles in a row are missing, this slot's included.
        intervals: i64,
    },
    /// It lies before the first candle.
    Before,
}

/// A series of candles with what is needed to guess an index from a time.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    series: CandleSeries,
    start: i64,
    interval: i64,
    /// How many candles are missing between the first and the last.
    missing: usize,
}

impl Track {
    pub(crate) fn new(series: CandleSeries) -> Self {
        let (start, interval) = (series.start().get(), series.interval().length().get());
        let slots = usize::try_from((series.end().get() - start) / interval).unwrap_or(0);
        let missing = slots.saturating_sub(series.candles().len());
        Self { series, start, interval, missing }
    }

    pub(crate) fn interval(&self) -> Interval {
        self.series.interval()
    }

    pub(crate) fn end(&self) -> Millis {
        self.series.end()
    }

    /// The slot that `at` falls into; the boundary rule says which of two when `at` is between them.
    #[inline]
    pub(crate) fn slot_at(&self, at: Millis, boundary: Boundary) -> Slot<'_> {
        let inside = match boundary {
            Boundary::Opens => at,
            Boundary::Ends => at - Millis::new(1),
        };
        let opens = inside.floor_to(Millis::new(self.interval));
        let candles = self.series.candles();
        match self.find(candles, opens) {
            Ok(index) => Slot::Filled(&candles[index]),
            Err(0) => Slot::Before,
            Err(next) => {
                let last = &candles[next - 1];
                Slot::Missing { last, intervals: (opens - last.time()).get() / self.interval }
            }
        }
    }

    /// The index of the candle that opens at `opens`, or of the first one after it.
    ///
    /// Times ascend by one interval at least, so a candle's index is at most the number of intervals since the
    /// start, and less than that by at most the candles missing in the whole series.
    #[inline]
    fn find(&self, candles: &[Candle], opens: Millis) -> Result<usize, usize> {
        let Ok(guess) = usize::try_from(opens.get().saturating_sub(self.start)) else { return Err(0) };
        let guess = guess / self.interval as usize;
        if candles.get(guess).is_some_and(|candle| candle.time() == opens) {
            return Ok(guess);
        }
        let high = guess.min(candles.len());
        let low = guess.saturating_sub(self.missing).min(high);
        match candles[low..high].binary_search_by_key(&opens, Candle::time) {
            Ok(offset) => Ok(low + offset),
            Err(offset) => Err(low + offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Ohlcv, Series, Symbol};
    use proptest::prelude::*;

    /// A series of one-minute candles in these slots, counted from a time well above zero.
    const FIRST: i64 = 1_000;

    fn track(slots: &[i64]) -> Track {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let candle =
            |slot: &i64| Candle::new(Millis::MINUTE * (FIRST + slot), Interval::MINUTE, numbers).unwrap();
        let series = Series { symbol: Symbol::new("BTCUSDT").unwrap(), interval: Interval::MINUTE };
        Track::new(CandleSeries::new(series, slots.iter().map(candle).collect::<Vec<_>>()).unwrap())
    }

    /// `Ok` is the slot of the candle found, `Err` how many in a row are missing; 0 means before the first.
    fn place(track: &Track, offset: i64, boundary: Boundary) -> Result<i64, i64> {
        match track.slot_at(Millis::MINUTE * FIRST + Millis::new(offset), boundary) {
            Slot::Filled(candle) => Ok(candle.time().get() / 60_000 - FIRST),
            Slot::Missing { intervals, .. } => Err(intervals),
            Slot::Before => Err(0),
        }
    }

    fn check(offset: i64, opens: Result<i64, i64>, ends: Result<i64, i64>) {
        let track = track(&[0, 1, 4]);
        assert_eq!(place(&track, offset, Boundary::Opens), opens, "{offset} as opening");
        assert_eq!(place(&track, offset, Boundary::Ends), ends, "{offset} as ending");
    }

    #[test]
    fn a_moment_falls_into_the_slot_that_its_boundary_rule_names() {
        check(-1, Err(0), Err(0));
        check(0, Ok(0), Err(0));
        check(1, Ok(0), Ok(0));
        check(59_999, Ok(0), Ok(0));
        check(60_000, Ok(1), Ok(0));
        check(120_000, Err(1), Ok(1));
        check(120_001, Err(1), Err(1));
        check(180_000, Err(2), Err(1));
        check(240_000, Ok(4), Err(2));
        check(300_000, Err(1), Ok(4));
        check(360_001, Err(2), Err(2));
    }

    proptest! {
        #[test]
        fn the_guess_finds_what_a_plain_search_finds(
            slots in prop::collection::btree_set(0_i64..60, 1..40),
            probe in -5_i64..80,
        ) {
            let slots: Vec<i64> = slots.into_iter().collect();
            let expected = match slots.iter().rev().find(|slot| **slot <= probe) {
                Some(slot) if *slot == probe => Ok(probe),
                Some(slot) => Err(probe - slot),
                None => Err(0),
            };
            prop_assert_eq!(place(&track(&slots), probe * 60_000 + 30_000, Boundary::Opens), expected);
        }
    }
}
