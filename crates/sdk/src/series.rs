//! Ordered candles of one symbol and interval, shared without copying.

use crate::{Candle, Interval, Millis, Symbol};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Symbol and interval of a strategy's candles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Series {
    /// Trading pair.
    pub symbol: Symbol,
    /// Candle interval.
    pub interval: Interval,
}

/// Candles of one series in strictly ascending order of time. Cloning shares the storage.
#[derive(Clone)]
pub struct CandleSeries {
    series: Series,
    candles: Arc<dyn AsRef<[Candle]> + Send + Sync>,
}

struct Window {
    whole: Arc<dyn AsRef<[Candle]> + Send + Sync>,
    range: Range<usize>,
}

/// Validation errors of a series.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeriesError {
    /// The series has no candles.
    #[error("there are no candles")]
    Empty,
    /// A candle is not later than the previous candle.
    #[error("candle {index} at {time} does not come after {previous}")]
    Unsorted {
        /// Index of the candle, 0-based.
        index: usize,
        /// Open time of the candle.
        time: Millis,
        /// Open time of the previous candle.
        previous: Millis,
    },
    /// A candle's open time is not a multiple of the interval.
    #[error("candle {index} at {time} is not aligned to {interval}")]
    Misaligned {
        /// Index of the candle, 0-based.
        index: usize,
        /// Open time of the candle.
        time: Millis,
        /// Interval of the series.
        interval: Interval,
    },
}

impl CandleSeries {
    /// Creates a series after checking the order and alignment of its candles.
    /// Accepts any storage that provides a slice. [`SeriesError`] names the first invalid candle.
    pub fn new(
        series: Series,
        candles: impl AsRef<[Candle]> + Send + Sync + 'static,
    ) -> Result<Self, SeriesError> {
        let slice = candles.as_ref();
        if slice.is_empty() {
            return Err(SeriesError::Empty);
        }
        for (index, pair) in slice.windows(2).enumerate() {
            let (previous, time) = (pair[0].time(), pair[1].time());
            if time <= previous {
                return Err(SeriesError::Unsorted { index: index + 1, time, previous });
            }
        }
        let interval = series.interval;
        if let Some(index) = slice.iter().position(|c| !c.time().is_aligned_to(interval.length())) {
            return Err(SeriesError::Misaligned { index, time: slice[index].time(), interval });
        }
        Ok(Self { series, candles: Arc::new(candles) })
    }

    /// Creates a series from stored candles that were validated before.
    ///
    /// The caller guarantees that the candles passed the checks of [`CandleSeries::new`] and have not changed since.
    /// Fails only with [`SeriesError::Empty`].
    pub fn from_validated(
        series: Series,
        candles: impl AsRef<[Candle]> + Send + Sync + 'static,
    ) -> Result<Self, SeriesError> {
        if candles.as_ref().is_empty() {
            return Err(SeriesError::Empty);
        }
        Ok(Self { series, candles: Arc::new(candles) })
    }

    /// Returns a series with the candles that open and close within `range`. Both series share the storage.
    /// Fails with [`SeriesError::Empty`] if `range` contains no candles.
    pub fn within(&self, range: Range<Millis>) -> Result<Self, SeriesError> {
        let all = self.candles();
        let first = all.partition_point(|candle| candle.time() < range.start);
        let end = all.partition_point(|candle| candle.close_time(self.series.interval) <= range.end);
        if (first, end) == (0, all.len()) {
            return Ok(self.clone());
        }
        if first >= end {
            return Err(SeriesError::Empty);
        }
        let candles = Arc::new(Window { whole: self.candles.clone(), range: first..end });
        Ok(Self { series: self.series, candles })
    }

    /// Returns the symbol and interval.
    pub fn series(&self) -> Series {
        self.series
    }

    /// Returns the trading pair.
    pub fn symbol(&self) -> Symbol {
        self.series.symbol
    }

    /// Returns the candle interval.
    pub fn interval(&self) -> Interval {
        self.series.interval
    }

    /// Returns the candles. The slice is never empty.
    pub fn candles(&self) -> &[Candle] {
        (*self.candles).as_ref()
    }

    /// Returns the open time of the first candle.
    pub fn start(&self) -> Millis {
        self.candles().first().map_or(Millis::ZERO, Candle::time)
    }

    /// Returns the close time of the last candle.
    pub fn end(&self) -> Millis {
        self.candles().last().map_or(Millis::ZERO, |last| last.close_time(self.series.interval))
    }
}

impl AsRef<[Candle]> for Window {
    fn as_ref(&self) -> &[Candle] {
        &(*self.whole).as_ref()[self.range.clone()]
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.symbol, self.interval)
    }
}

impl fmt::Debug for CandleSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CandleSeries({}, {} candles)", self.series, self.candles().len())
    }
}

/// Number of candles that are scanned first, one by one. This usually finds the answer without a slow division.
const LINEAR_SEARCH_CANDLES: usize = 8;

/// Returns the number of candles that close before `until`.
/// The candles must be sorted, and each must be `length` long. Takes constant time if no candle is missing, otherwise
/// logarithmic time. Does not read candles far beyond `until`, to avoid CPU cache misses.
#[inline]
pub fn count_closing_before(candles: &[Candle], length: Millis, until: Millis) -> usize {
    let opens_before = until - length;
    let closes_before = |candle: &Candle| candle.time() < opens_before;
    let near = &candles[..candles.len().min(LINEAR_SEARCH_CANDLES)];
    if let Some(near) = near.iter().position(|candle| !closes_before(candle)) {
        return near;
    }
    let Some(first) = candles.first() else { return 0 };
    // The first candle closes before `until`. With gaps, fewer candles close before `until` than computed here.
    let left = (opens_before - first.time()).get();
    let unbroken = usize::try_from((left - 1) / length.get().max(1) + 1).unwrap_or(usize::MAX);
    let most = unbroken.min(candles.len());
    if closes_before(&candles[most - 1]) { most } else { candles[..most].partition_point(closes_before) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ohlcv;
    use proptest::prelude::*;

    fn candle(time: i64) -> Candle {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        Candle::new(Millis::new(time), Interval::MINUTE, numbers).unwrap()
    }

    fn check(times: &[i64], expected: Result<(i64, i64), &str>) {
        let series = Series { symbol: Symbol::new("BTCUSDT").unwrap(), interval: Interval::MINUTE };
        let made = CandleSeries::new(series, times.iter().map(|time| candle(*time)).collect::<Vec<_>>());
        let ends = made.map(|made| (made.start().get(), made.end().get())).map_err(|error| error.to_string());
        assert_eq!(ends, expected.map_err(str::to_owned));
    }

    #[test]
    fn within_returns_the_candles_of_the_range() {
        let series = Series { symbol: Symbol::new("BTCUSDT").unwrap(), interval: Interval::MINUTE };
        let times = [60_000, 120_000, 300_000];
        let whole = CandleSeries::new(series, times.map(candle)).unwrap();
        for (from, to, expected) in [
            (i64::MIN, i64::MAX, Some((60_000, 360_000))),
            (60_000, 360_000, Some((60_000, 360_000))),
            (60_001, 360_000, Some((120_000, 360_000))),
            (60_000, 359_999, Some((60_000, 180_000))),
            (180_000, 300_000, None),
            (300_000, 60_000, None),
        ] {
            let part = whole.within(Millis::new(from)..Millis::new(to));
            let ends = part.map(|part| (part.start().get(), part.end().get()));
            assert_eq!(ends.ok(), expected, "{from} to {to}");
        }
        let inner = whole.within(Millis::new(61_000)..Millis::MAX).unwrap();
        let inner = inner.within(Millis::new(121_000)..Millis::MAX).unwrap();
        assert_eq!(inner.candles(), &whole.candles()[2..], "a part of a part");
    }

    #[test]
    fn accepts_gaps_and_rejects_other_orders() {
        check(&[60_000, 120_000, 300_000], Ok((60_000, 360_000)));
        check(&[], Err("there are no candles"));
        check(&[60_000, 60_000], Err("candle 1 at 60000 does not come after 60000"));
        check(&[120_000, 180_000, 60_000], Err("candle 2 at 60000 does not come after 180000"));
    }

    fn minutes(of: &[i64]) -> Vec<Candle> {
        of.iter().map(|minute| candle(minute * 60_000)).collect()
    }

    proptest! {
        #[test]
        fn closing_before_agrees_with_counting(
            of in prop::collection::btree_set(0_i64..50, 0..40),
            until in prop_oneof![
                -60_000_i64..4_000_000,
                (0_i64..60, -1_i64..=1).prop_map(|(minute, more)| minute * 60_000 + more),
                prop::sample::select(vec![i64::MIN, i64::MAX]),
            ],
        ) {
            let candles = minutes(&of.into_iter().collect::<Vec<_>>());
            let counted = candles.iter().filter(|candle| candle.time().get() + 60_000 < until).count();
            prop_assert_eq!(count_closing_before(&candles, Millis::MINUTE, Millis::new(until)), counted);
        }
    }
}
