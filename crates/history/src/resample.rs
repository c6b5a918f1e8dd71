//! Resampling of candles to a longer interval.

use crate::HistoryError;
use candlewick_sdk::{
    Candle, CandleSeries, CoverageRule, Interval, Millis, ResampleCounts, Resampler, Series,
};

#[derive(Clone, Debug)]
pub struct ResampledSeries {
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

/// Resamples a series to a longer interval. The required coverage is [`CoverageRule::DEFAULT_SHARE_PERCENT`].
pub fn resample(series: &CandleSeries, interval: Interval) -> Result<CandleSeries, HistoryError> {
    Ok(resample_with_coverage(series, interval, CoverageRule::DEFAULT_SHARE_PERCENT)?.candles)
}

/// Resamples a series. Each long candle needs data for at least `percent` % of its open hours ([`CoverageRule::Share`]).
pub fn resample_with_coverage(
    series: &CandleSeries,
    interval: Interval,
    percent: f64,
) -> Result<ResampledSeries, HistoryError> {
    let rule = CoverageRule::for_symbol(series.symbol(), Some(percent));
    let mut resampler = Resampler::new(series.interval(), interval)?.with_coverage_rule(rule);
    let mut candles: Vec<Candle> = Vec::new();
    for fine in series.candles() {
        candles.extend(resampler.finish_before(fine.time()));
        candles.extend(resampler.push(fine));
    }
    candles.extend(resampler.finish());
    let resampled = Series { symbol: series.symbol(), interval };
    let candles = CandleSeries::new(resampled, candles).map_err(|error| HistoryError::NoCandles {
        place: resampled.to_string(),
        problem: format!("{error}: no candle of {interval} is complete"),
    })?;
    Ok(ResampledSeries { candles, counts: resampler.counts() })
}

pub fn count_resampled_candles(series: &CandleSeries, percent: f64) -> Vec<(Interval, ResampleCounts)> {
    let rule = CoverageRule::for_symbol(series.symbol(), Some(percent));
    let resampler = |length: Millis| {
        let interval = Interval::from_seconds(length.get() / 1_000).ok()?;
        let made = Resampler::new(series.interval(), interval).ok()?;
        (interval > series.interval()).then(|| made.with_coverage_rule(rule))
    };
    let mut all: Vec<Resampler> = USUAL_INTERVALS.into_iter().filter_map(resampler).collect();
    for fine in series.candles() {
        for one in &mut all {
            one.finish_before(fine.time());
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
    use candlewick_sdk::Ohlcv;

    #[test]
    fn rejects_indivisible_intervals_and_incomplete_series() {
        let series = Series { symbol: "EURUSD".parse().unwrap(), interval: "30s".parse().unwrap() };
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let candle = |time: i64| Candle::new(Millis::SECOND * time, series.interval, numbers).unwrap();
        let fine = CandleSeries::new(series, vec![candle(90), candle(120)]).unwrap();
        for (interval, expected) in [
            ("45s", "interval: 45s is not a multiple of 30s"),
            ("5s", "interval: 5s is not a multiple of 30s"),
            ("1m", "EURUSD 1m: there are no candles: no candle of 1m is complete"),
        ] {
            let error = resample(&fine, interval.parse().unwrap()).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
