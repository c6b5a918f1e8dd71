//! Gaps between the first and the last candle of a series.

use candlewick_sdk::{CandleSeries, Millis};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    pub start: Millis,
    /// Exclusive end: open time of the first candle after the gap.
    pub end: Millis,
    pub missing: u64,
}

/// Returns all gaps in order, including a market's closed hours.
pub fn gaps(series: &CandleSeries) -> Vec<Gap> {
    let interval = series.interval();
    let gap_between = |start: Millis, end: Millis| {
        let missing = u64::try_from((end - start).get() / interval.length().get()).unwrap_or(0);
        (missing > 0).then_some(Gap { start, end, missing })
    };
    series
        .candles()
        .windows(2)
        .filter_map(|pair| gap_between(pair[0].close_time(interval), pair[1].time()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Candle, Interval, Ohlcv, Series, Symbol};

    fn check(minutes: &[i64], expected: &[(i64, i64, u64)]) {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let series = Series { symbol: Symbol::new("EURUSD").unwrap(), interval: Interval::MINUTE };
        let candles: Vec<Candle> = minutes
            .iter()
            .map(|minute| Candle::new(Millis::MINUTE * *minute, Interval::MINUTE, numbers).unwrap())
            .collect();
        let found = gaps(&CandleSeries::new(series, candles).unwrap());
        let found: Vec<_> =
            found.iter().map(|g| (g.start.get() / 60_000, g.end.get() / 60_000, g.missing)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn gaps_are_found_with_their_length() {
        check(&[5], &[]);
        check(&[5, 6, 7], &[]);
        check(&[-1, 1, 2, 10], &[(0, 1, 1), (3, 10, 7)]);
    }
}
