//! Resampling of candles to longer intervals.

use crate::HistoryError;
use candlewick_sdk::{Candle, CandleSeries, Interval, LongerRule, Millis, ResampleCounts, Resampler, Series};

#[derive(Clone, Debug)]
pub struct Resampled {
    pub candles: CandleSeries,
    pub counts: ResampleCounts,
}

const USUAL_INTERVALS: [Millis; 5] = [
    Millis::new(5 * Millis::MINUTE.get()),
    Millis::new(15 * Millis::MINUTE.get()),
    Millis::HOUR,
    Millis::new(4 * Millis::HOUR.get()),
    Millis::DAY,
];

/// Resamples a series by the [default share](LongerRule::USUAL_PERCENT).
pub fn resample(series: &CandleSeries, interval: Interval) -> Result<CandleSeries, HistoryError> {
    Ok(resample_by(series, interval, LongerRule::USUAL_PERCENT)?.candles)
}

/// Resamples by a required percentage of open hours ([`LongerRule::Share`]).
pub fn resample_by(
    series: &CandleSeries,
    interval: Interval,
    percent: f64,
) -> Result<Resampled, HistoryError> {
    let rule = LongerRule::of_symbol(series.symbol(), Some(percent));
    let mut resampler = Resampler::new(series.interval(), interval)?.with_rule(rule);
    let mut candles: Vec<Candle> = Vec::new();
    for fine in series.candles() {
        candles.extend(resampler.end_before(fine.time()));
        candles.extend(resampler.push(fine));
    }
    candles.extend(resampler.finish());
    let resampled = Series { symbol: series.symbol(), interval };
    let candles = CandleSeries::new(resampled, candles).map_err(|error| HistoryError::NoCandles {
        place: resampled.to_string(),
        problem: format!("{error}: no candle of {interval} is complete"),
    })?;
    Ok(Resampled { candles, counts: resampler.counts() })
}

pub fn count_longer(series: &CandleSeries, percent: f64) -> Vec<(Interval, ResampleCounts)> {
    let rule = LongerRule::of_symbol(series.symbol(), Some(percent));
    let resampler = |length: Millis| {
        let interval = Interval::from_seconds(length.get() / 1_000).ok()?;
        let made = Resampler::new(series.interval(), interval).ok()?;
        (interval > series.interval()).then(|| made.with_rule(rule))
    };
    let mut all: Vec<Resampler> = USUAL_INTERVALS.into_iter().filter_map(resampler).collect();
    for fine in series.candles() {
        for one in &mut all {
            one.end_before(fine.time());
            one.push(fine);
        }
    }
    let counted = |mut one: Resampler| {
        one.finish();
        (one.interval(), one.counts())
    };
    all.into_iter().map(counted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Ohlcv, Symbol};
    use proptest::prelude::*;

    /// Rows of (time in seconds, open, high, low, close, volume).
    type Row = (i64, f64, f64, f64, f64, f64);

    fn series_of(interval: &str, rows: &[Row]) -> CandleSeries {
        let series = Series { symbol: Symbol::new("EURUSD").unwrap(), interval: interval.parse().unwrap() };
        let candle = |&(seconds, open, high, low, close, volume): &Row| {
            let numbers = Ohlcv { open, high, low, close, volume };
            Candle::new(Millis::from_seconds(seconds), series.interval, numbers).unwrap()
        };
        CandleSeries::new(series, rows.iter().map(candle).collect::<Vec<_>>()).unwrap()
    }

    fn rows_of(series: &CandleSeries) -> Vec<Row> {
        let row = |c: &Candle| (c.time().get() / 1_000, c.open(), c.high(), c.low(), c.close(), c.volume());
        series.candles().iter().map(row).collect()
    }

    #[test]
    fn complete_candles_are_joined() {
        let fine = series_of(
            "30s",
            &[(60, 2.0, 3.0, 1.5, 2.5, 1.0), (90, 2.5, 2.75, 1.0, 1.25, 2.0), (120, 9.0, 9.0, 9.0, 9.0, 4.0)],
        );
        let joined = resample(&fine, Interval::MINUTE).unwrap();
        assert_eq!(rows_of(&joined), [(60, 2.0, 3.0, 1.0, 1.25, 3.0)]);
        assert_eq!(rows_of(&resample(&fine, "30s".parse().unwrap()).unwrap()), rows_of(&fine));
    }

    #[test]
    fn intervals_that_do_not_divide_and_series_without_a_complete_candle_are_refused() {
        let fine = series_of("30s", &[(90, 1.0, 1.0, 1.0, 1.0, 0.0), (120, 1.0, 1.0, 1.0, 1.0, 0.0)]);
        for (interval, expected) in [
            ("45s", "interval: 45s is not a multiple of 30s"),
            ("5s", "interval: 5s is not a multiple of 30s"),
            ("1m", "EURUSD 1m: there are no candles: no candle of 1m is complete"),
        ] {
            let error = resample(&fine, interval.parse().unwrap()).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    proptest! {
        /// The plain way: look at every long candle in turn and at all the short ones inside it.
        #[test]
        fn joining_equals_looking_up_every_candle(
            present in prop::collection::vec(prop::bool::weighted(0.9), 1..200),
            steps in prop::collection::vec((1_u32..50, 0_u32..9, 0_u32..9, 0_u32..100), 200),
            first in 0_i64..30,
        ) {
            let fine: Vec<Row> = present
                .iter()
                .zip(&steps)
                .enumerate()
                .filter(|(_, (present, _))| **present)
                .map(|(index, (_, &(open, up, down, volume)))| {
                    let (open, close) = (f64::from(open), f64::from(open + up));
                    let low = open / f64::from(down + 1);
                    ((first + index as i64) * 10, open, close + 1.0, low, close, f64::from(volume))
                })
                .collect();
            prop_assume!(!fine.is_empty());
            let mut expected: Vec<Row> = Vec::new();
            for minute in 0..50 {
                let inside: Vec<&Row> = fine.iter().filter(|row| row.0.div_euclid(60) == minute).collect();
                if inside.len() == 6 {
                    let high = inside.iter().map(|row| row.2).fold(0.0, f64::max);
                    let low = inside.iter().map(|row| row.3).fold(f64::MAX, f64::min);
                    let volume = inside.iter().map(|row| row.5).sum();
                    expected.push((minute * 60, inside[0].1, high, low, inside[5].4, volume));
                }
            }
            let joined = resample_by(&series_of("10s", &fine), Interval::MINUTE, 100.0);
            prop_assert_eq!(joined.map(|joined| rows_of(&joined.candles)).unwrap_or_default(), expected);
        }
    }
}
