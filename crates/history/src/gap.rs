//! Detects gaps between candles, and candles of a second interval in the same series.

use candlewick_sdk::{CandleSeries, Interval, Millis};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    pub start: Millis,
    /// Exclusive end: the open time of the first candle after the gap.
    pub end: Millis,
    pub missing: u64,
}

/// Returns all gaps in order, including hours in which the market is closed.
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

const MIN_RUN_LENGTH: usize = 8;
const MAX_EXPECTED_CHANCE_RUNS: f64 = 1e-6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MixedInterval {
    pub(crate) distance: Millis,
    pub(crate) count: usize,
    pub(crate) start: usize,
}

/// Finds the first run of distances that is too regular to result from missing candles. All distances of a run are
/// multiples of its first, which is longer than `interval`. For a run of `n` among `N` distances, chance would produce
/// `N * q^n <= 1e-6` runs, where `q` is the share of multiples among up to `5 n` distances on each side.
pub(crate) fn find_mixed_interval(
    len: usize,
    time: impl Fn(usize) -> Millis,
    interval: Interval,
) -> Option<MixedInterval> {
    let length = interval.length();
    let distance = |index: usize| time(index + 1) - time(index);
    let total = len.checked_sub(1)?;
    let mut start = 0;
    while start < total {
        let step = distance(start);
        let is_longer = step > length && step.is_aligned_to(length);
        // Candles of the second interval have gaps too, such as weekends, so multiples are accepted.
        let is_multiple = |at: usize| distance(at) > Millis::ZERO && distance(at).is_aligned_to(step);
        let end = if is_longer {
            (start + 1..total).find(|index| !is_multiple(*index)).unwrap_or(total)
        } else {
            start + 1
        };
        let count = end - start;
        if count >= MIN_RUN_LENGTH && !is_explained_by_chance(start..end, total, is_multiple) {
            let mut distances: Vec<Millis> = (start..end).map(distance).collect();
            distances.sort_unstable();
            return Some(MixedInterval { distance: distances[count / 2], count, start });
        }
        start = end;
    }
    None
}

fn is_explained_by_chance(run: Range<usize>, total: usize, is_multiple: impl Fn(usize) -> bool) -> bool {
    let (before, after) = (run.start.saturating_sub(5 * run.len()), total.min(run.end + 5 * run.len()));
    let around = (before..run.start).chain(run.end..after);
    let (multiples, all) = around
        .fold((0_u32, 0_u32), |(multiples, all), index| (multiples + u32::from(is_multiple(index)), all + 1));
    // Without surrounding distances, the run is the whole file.
    let share = if all == 0 { 1.0 } else { f64::from(multiples + 1) / f64::from(all + 1) };
    let exponent = i32::try_from(run.len()).unwrap_or(i32::MAX);
    total as f64 * share.powi(exponent) > MAX_EXPECTED_CHANCE_RUNS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thinned(count: i64, missing_percent: u64, seed: u64) -> Vec<Millis> {
        let mut state = seed;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 100
        };
        (0..count).filter(|_| draw() >= missing_percent).map(|minute| Millis::MINUTE * minute).collect()
    }

    fn parts(parts: &[(i64, i64)]) -> Vec<Millis> {
        let mut times = vec![Millis::ZERO];
        for (count, minutes) in parts {
            for _ in 0..*count {
                times.push(*times.last().unwrap() + Millis::MINUTE * *minutes);
            }
        }
        times
    }

    fn check(times: &[Millis], interval: &str, expected: Option<(i64, usize, usize)>) {
        let found = find_mixed_interval(times.len(), |index| times[index], interval.parse().unwrap());
        let found = found.map(|found| (found.distance.get() / 60_000, found.count, found.start));
        assert_eq!(found, expected);
    }

    #[test]
    fn finds_long_run_of_another_interval() {
        check(&parts(&[(99, 1), (100, 5)]), "1m", Some((5, 100, 99)));
        check(&parts(&[(100, 5), (99, 1)]), "1m", Some((5, 100, 0)));
        check(&parts(&[(30, 1), (9, 5), (30, 1)]), "1m", Some((5, 9, 30)));
        check(&parts(&[(100, 60), (50, 1440)]), "1h", Some((1440, 50, 100)));
        check(&parts(&[(100, 60), (1, 720), (50, 1440)]), "1h", Some((1440, 51, 100)));
        let weeks: Vec<(i64, i64)> = (0..10).flat_map(|_| [(4, 1440), (1, 3 * 1440)]).collect();
        check(&parts(&[&[(200, 60)], &weeks[..]].concat()), "1h", Some((1440, 50, 200)));
    }

    #[test]
    fn ignores_missing_candles_and_weekends() {
        for missing in [0, 4, 20, 50] {
            for seed in 0..40 {
                check(&thinned(30_000, missing, seed), "1m", None);
            }
        }
        for seed in 0..40 {
            let mut times: Vec<Millis> = (0..5_000).map(|minute| Millis::MINUTE * minute).collect();
            let sparse = thinned(600, 50, seed);
            times.extend(sparse.iter().map(|time| *time + Millis::MINUTE * 5_000));
            times.extend((5_600..10_000).map(|minute| Millis::MINUTE * minute));
            check(&times, "1m", None);
        }
        let days: Vec<(i64, i64)> = (0..200).flat_map(|_| [(4, 1440), (1, 3 * 1440)]).collect();
        check(&parts(&days), "1d", None);
        let hours: Vec<(i64, i64)> = (0..200).flat_map(|_| [(6, 60), (1, 18 * 60)]).collect();
        check(&parts(&hours), "1h", None);
        check(&parts(&[(1, 5)]), "5m", None);
    }
}
