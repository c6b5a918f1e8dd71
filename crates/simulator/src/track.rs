//! Candle lookup by time: by index if the series has no gaps, otherwise by a search over the gaps.

use candlewick_sdk::{Candle, CandleSeries, Interval, Millis};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoundaryCandle {
    Opens,
    Ends,
}

pub(crate) enum Slot<'a> {
    Filled(&'a Candle),
    Missing {
        last: &'a Candle,
        /// Number of consecutive missing candles up to and including this slot.
        intervals: i64,
    },
    Before,
}

#[derive(Clone, Debug)]
pub(crate) struct CandleLookup {
    series: CandleSeries,
    interval: Millis,
    /// Runs of candles without gaps, in ascending order. There is at least one run, because a series is never empty.
    runs: Vec<GaplessRun>,
}

#[derive(Clone, Copy, Debug)]
struct GaplessRun {
    opens: Millis,
    index: usize,
}

impl CandleLookup {
    pub(crate) fn new(series: CandleSeries) -> Self {
        let interval = series.interval().length();
        let mut runs = vec![GaplessRun { opens: series.start(), index: 0 }];
        split_at_gaps(series.candles(), 0, interval, &mut runs);
        Self { series, interval, runs }
    }

    pub(crate) fn gapless_ranges(&self) -> impl Iterator<Item = Range<Millis>> + '_ {
        let candles = self.series.candles();
        let close_before = |index: usize| candles[index - 1].close_time(self.series.interval());
        self.runs.iter().enumerate().map(move |(number, run)| {
            let end = self.runs.get(number + 1).map_or(candles.len(), |next| next.index);
            run.opens..close_before(end)
        })
    }

    pub(crate) fn interval(&self) -> Interval {
        self.series.interval()
    }

    pub(crate) fn end(&self) -> Millis {
        self.series.end()
    }

    #[inline]
    pub(crate) fn slot_at(&self, at: Millis, boundary: BoundaryCandle) -> Slot<'_> {
        let inside = match boundary {
            BoundaryCandle::Opens => at,
            BoundaryCandle::Ends => at - Millis::new(1),
        };
        let next = self.runs.partition_point(|run| run.opens <= inside);
        let Some(run) = next.checked_sub(1).map(|last| self.runs[last]) else { return Slot::Before };
        let candles = self.series.candles();
        let end = self.runs.get(next).map_or(candles.len(), |run| run.index);
        let intervals = (inside - run.opens).get() / self.interval.get();
        let index = run.index + intervals as usize;
        if index < end {
            Slot::Filled(&candles[index])
        } else {
            Slot::Missing { last: &candles[end - 1], intervals: (index - end + 1) as i64 }
        }
    }
}

/// Finds all gaps by bisection. A range has no gap if it spans exactly as many intervals as it has candles.
fn split_at_gaps(candles: &[Candle], first: usize, interval: Millis, runs: &mut Vec<GaplessRun>) {
    let [head, .., tail] = candles else { return };
    let steps = candles.len() - 1;
    if tail.time() - head.time() == interval * steps as i64 {
        return;
    }
    if steps == 1 {
        runs.push(GaplessRun { opens: tail.time(), index: first + 1 });
        return;
    }
    let middle = steps / 2;
    split_at_gaps(&candles[..=middle], first, interval, runs);
    split_at_gaps(&candles[middle..], first + middle, interval, runs);
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Ohlcv, Series, Symbol};
    use proptest::prelude::*;

    const FIRST: i64 = 1_000;

    /// Builds a series of one-minute candles in these slots. Slot 0 is well after time zero.
    fn track(slots: &[i64]) -> CandleLookup {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let candle = |n: &i64| Candle::new(Millis::MINUTE * (FIRST + n), Interval::MINUTE, numbers).unwrap();
        let series = Series { symbol: Symbol::new("BTCUSDT").unwrap(), interval: Interval::MINUTE };
        CandleLookup::new(CandleSeries::new(series, slots.iter().map(candle).collect::<Vec<_>>()).unwrap())
    }

    /// Returns the candle's slot, or the number of consecutive missing candles (0 before the first candle).
    fn place(track: &CandleLookup, offset: i64, boundary: BoundaryCandle) -> Result<i64, i64> {
        match track.slot_at(Millis::MINUTE * FIRST + Millis::new(offset), boundary) {
            Slot::Filled(candle) => Ok(candle.time().get() / 60_000 - FIRST),
            Slot::Missing { intervals, .. } => Err(intervals),
            Slot::Before => Err(0),
        }
    }

    fn check(offset: i64, opens: Result<i64, i64>, ends: Result<i64, i64>) {
        let track = track(&[0, 1, 4]);
        assert_eq!(place(&track, offset, BoundaryCandle::Opens), opens, "{offset} as opening");
        assert_eq!(place(&track, offset, BoundaryCandle::Ends), ends, "{offset} as ending");
    }

    #[test]
    fn boundary_rule_selects_the_slot() {
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
        fn runs_match_a_linear_search(
            slots in prop::collection::btree_set(0_i64..60, 1..40),
            probe in -5_i64..80,
        ) {
            let slots: Vec<i64> = slots.into_iter().collect();
            let expected = match slots.iter().rev().find(|slot| **slot <= probe) {
                Some(slot) if *slot == probe => Ok(probe),
                Some(slot) => Err(probe - slot),
                None => Err(0),
            };
            prop_assert_eq!(place(&track(&slots), probe * 60_000 + 30_000, BoundaryCandle::Opens), expected);
        }
    }
}
