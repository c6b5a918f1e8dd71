//! Choice of the stretches to request, based on the stored candles.

use candlewick_history::gaps;
use candlewick_sdk::{CandleSeries, Interval, Millis};
use std::ops::Range;

/// Number of stored candles to request again.
///
/// A venue may still revise the latest ones.
const RECHECKED: i64 = 100;
/// Maximum candles between merged stretches; fewer than one request returns.
const MERGED: i64 = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    After,
    Missing,
    All,
}

pub(super) fn plan(
    stored: Option<&CandleSeries>,
    range: &Range<Millis>,
    extent: Extent,
    is_known_empty: impl Fn(&Range<Millis>) -> bool,
) -> Vec<Range<Millis>> {
    let Some(stored) = stored.filter(|_| extent != Extent::All) else { return vec![range.clone()] };
    let tail = (stored.end() - stored.interval().length() * RECHECKED).max(stored.start());
    let mut stretches = Vec::new();
    if extent == Extent::Missing {
        stretches.push(range.start..stored.start());
        let missing = gaps(stored).into_iter().map(|gap| gap.start..gap.end);
        stretches.extend(missing.filter(|one| !is_known_empty(one)));
    }
    stretches.push(tail..range.end);
    let clipped = stretches.into_iter().map(|one| one.start.max(range.start)..one.end.min(range.end));
    merge(clipped.filter(|one| one.start < one.end), stored.interval())
}

fn merge(stretches: impl Iterator<Item = Range<Millis>>, interval: Interval) -> Vec<Range<Millis>> {
    let near = interval.length() * MERGED;
    let mut merged: Vec<Range<Millis>> = Vec::new();
    for one in stretches {
        match merged.last_mut().filter(|last| one.start - last.end < near) {
            Some(last) => last.end = last.end.max(one.end),
            None => merged.push(one),
        }
    }
    merged
}

pub(super) fn slots(stretches: &[Range<Millis>], interval: Interval) -> u64 {
    let slots = |one: &Range<Millis>| (one.end - one.start).get() / interval.length().get();
    stretches.iter().map(|one| u64::try_from(slots(one)).unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Candle, Ohlcv, Series};

    /// From one minute up to another.
    type Minutes = (i64, i64);

    fn stored(minutes: &[Minutes]) -> CandleSeries {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let candle = |minute| Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap();
        let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE };
        let minutes = minutes.iter().flat_map(|(start, end)| *start..*end);
        CandleSeries::new(series, minutes.map(candle).collect::<Vec<_>>()).unwrap()
    }

    fn check(there: &[Minutes], range: Minutes, extent: Extent, expected: &[Minutes]) {
        let to_range = |(start, end): Minutes| Millis::MINUTE * start..Millis::MINUTE * end;
        let there = (!there.is_empty()).then(|| stored(there));
        let planned = plan(there.as_ref(), &to_range(range), extent, |_| false);
        assert_eq!(planned, expected.iter().copied().map(to_range).collect::<Vec<_>>());
        let count = expected.iter().map(|(start, end)| end - start).sum::<i64>();
        assert_eq!(slots(&planned, Interval::MINUTE), count as u64);
    }

    #[test]
    fn all_of_a_range_is_asked_for_when_nothing_is_there_or_the_user_wants_it() {
        check(&[], (0, 5_000), Extent::Missing, &[(0, 5_000)]);
        check(&[], (0, 5_000), Extent::After, &[(0, 5_000)]);
        check(&[(1_000, 4_000)], (0, 5_000), Extent::All, &[(0, 5_000)]);
    }

    #[test]
    fn what_is_missing_is_asked_for_and_the_last_stored_candles_again() {
        let there = [(1_000, 4_000)];
        check(&there, (0, 5_000), Extent::Missing, &[(0, 1_000), (3_900, 5_000)]);
        check(&there, (0, 5_000), Extent::After, &[(3_900, 5_000)]);
        let halves = [(1_000, 2_000), (3_000, 6_000)];
        check(&halves, (1_000, 7_000), Extent::Missing, &[(2_000, 3_000), (5_900, 7_000)]);
        check(&[(10, 20)], (0, 30), Extent::Missing, &[(0, 30)]);
        check(&[(10, 20)], (0, 30), Extent::After, &[(10, 30)]);
    }

    #[test]
    fn stretches_near_each_other_are_one() {
        let there = [(0, 1_000), (1_001, 1_400), (1_402, 5_000)];
        check(&there, (0, 6_000), Extent::Missing, &[(1_000, 1_402), (4_900, 6_000)]);
    }

    #[test]
    fn what_is_known_to_be_empty_is_not_missing() {
        let there = stored(&[(0, 2_000), (4_000, 6_000), (8_000, 9_000)]);
        let minutes = |start, end| Millis::MINUTE * start..Millis::MINUTE * end;
        let asked = |extent| {
            let is_empty = |one: &Range<Millis>| *one == minutes(2_000, 4_000);
            plan(Some(&there), &minutes(0, 10_000), extent, is_empty)
        };
        assert_eq!(asked(Extent::Missing), [minutes(6_000, 8_000), minutes(8_900, 10_000)]);
        assert_eq!(asked(Extent::All), [minutes(0, 10_000)]);
    }

    #[test]
    fn only_the_range_is_asked_for() {
        let there = [(1_000, 4_000)];
        check(&there, (2_000, 3_000), Extent::Missing, &[]);
        check(&there, (500, 800), Extent::Missing, &[(500, 800)]);
        check(&there, (4_500, 5_000), Extent::Missing, &[(4_500, 5_000)]);
    }
}
