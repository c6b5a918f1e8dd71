//! Aligns stored candles with the present, by choosing a start time or by shifting the candles by whole days.

use crate::error::AppError;
use candlewick_sandbox::StartTime;
use candlewick_sdk::{Candle, CandleError, CandleSeries, Millis, Ohlcv};
use std::cmp::Reverse;
use std::iter::successors;
use std::ops::Range;

/// Shifts all candles by the same number of whole days, so that their period includes `now`.
///
/// Prefers shifts for which every series has a candle at `now`, and a day of candles before and after `now`.
pub fn shift_to(now: Millis, all: &[CandleSeries]) -> Result<Vec<CandleSeries>, AppError> {
    let hint = "use --start or a --speed above 1 to keep the candle times unchanged";
    let Some(days) = best_shift(now, all) else {
        let problem = "the period of the candles is too short to shift it to the present by whole days";
        return Err(AppError::data(problem).with_help(hint));
    };
    let moved = |one: &CandleSeries| {
        shift(one, days).map_err(|error| {
            let problem = format!("cannot shift {} by whole days: {error}", one.series());
            AppError::data(problem).with_help(hint)
        })
    };
    all.iter().map(moved).collect()
}

/// Returns `asked` if valid. The default is one day, but at most a quarter, into the period common to all series.
pub fn choose_venue_start(all: &[CandleSeries], asked: Option<Millis>) -> Result<Millis, AppError> {
    let (start, end) = total_span(all);
    let Some(at) = asked else {
        let (start, end) = common_span(all).unwrap_or((start, end));
        let quarter = Millis::new((end - start).get() / 4);
        let wanted = start + Millis::DAY.min(quarter).floor_to(Millis::MINUTE);
        return Ok(first_covered_time(all, wanted..end).unwrap_or(wanted));
    };
    if (start..end).contains(&at) {
        return Ok(at);
    }
    let [at, start, end] = [at, start, end].map(|moment| String::from(StartTime(moment)));
    let problem = format!("the start {at} is outside the period of the candles, {start} to {end}");
    Err(AppError::invalid(problem).with_help("use a --start within this range, or omit it"))
}

fn total_span(all: &[CandleSeries]) -> (Millis, Millis) {
    let start = all.iter().map(CandleSeries::start).min().unwrap_or_default();
    (start, all.iter().map(CandleSeries::end).max().unwrap_or_default())
}

fn common_span(all: &[CandleSeries]) -> Option<(Millis, Millis)> {
    let start = all.iter().map(CandleSeries::start).max()?;
    let end = all.iter().map(CandleSeries::end).min()?;
    (start < end).then_some((start, end))
}

/// Checks that a candle of the series includes the time `at`. The error is the open time of the next candle, if any.
fn check_covered(one: &CandleSeries, at: Millis) -> Result<(), Option<Millis>> {
    let next = one.candles().partition_point(|candle| candle.time() <= at);
    let last = next.checked_sub(1).map(|last| one.candles()[last]);
    match last {
        Some(candle) if at < candle.close_time(one.interval()) => Ok(()),
        _ => Err(one.candles().get(next).map(Candle::time)),
    }
}

fn first_covered_time(all: &[CandleSeries], range: Range<Millis>) -> Option<Millis> {
    let mut at = range.start;
    while at < range.end {
        match all.iter().find_map(|one| check_covered(one, at).err()) {
            None => return Some(at),
            Some(next) => at = next?,
        }
    }
    None
}

fn best_shift(now: Millis, all: &[CandleSeries]) -> Option<Millis> {
    let (start, end) = total_span(all);
    let first = now - (now - start).floor_to(Millis::DAY);
    let moments = successors(Some(first), |at| Some(*at + Millis::DAY)).take_while(|at| *at < end);
    let room = |at: Millis, (from, until): (Millis, Millis)| (at - from).min(until - at).min(Millis::DAY);
    let rank = |at: &Millis| {
        let is_covered = all.iter().all(|one| check_covered(one, *at).is_ok());
        let in_common = common_span(all).map_or(Millis::ZERO, |common| room(*at, common).max(Millis::ZERO));
        (is_covered, in_common, room(*at, (start, end)), Reverse(*at))
    };
    moments.max_by_key(rank).map(|at| now - at)
}

fn shift(series: &CandleSeries, by: Millis) -> Result<CandleSeries, CandleError> {
    let interval = series.interval();
    let moved = |candle: &Candle| {
        let (open, high, low) = (candle.open(), candle.high(), candle.low());
        let numbers = Ohlcv { open, high, low, close: candle.close(), volume: candle.volume() };
        Candle::new(candle.time() + by, interval, numbers)
    };
    let candles = series.candles().iter().map(moved).collect::<Result<Vec<_>, _>>()?;
    Ok(CandleSeries::new(series.series(), candles).expect("a uniform shift keeps order and alignment"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::flat_candles;
    use proptest::prelude::*;

    fn hours(hours: i64) -> Millis {
        Millis::HOUR * hours
    }

    fn series(symbol: &str, of: &[(i64, i64)]) -> CandleSeries {
        flat_candles(symbol, "1h", of.iter().flat_map(|(from, until)| *from..*until))
    }

    const TWO_WEEKS: (i64, i64) = (0, 14 * 24);

    #[test]
    fn shifts_now_to_a_candle_of_every_series_with_a_day_of_history() {
        let of = |all: &[&[(i64, i64)]]| -> Vec<CandleSeries> {
            all.iter().zip(["A", "B"]).map(|(hours, name)| series(name, hours)).collect()
        };
        for (now, all, expected) in [
            // `now` maps to the second day.
            (100 * 24 + 5, of(&[&[TWO_WEEKS]]), Some(99 * 24)),
            // With two days, 05:00 maps to day 2 (29 h before, 19 h after) and 13:00 to day 1 (13 h before, 35 h after).
            (100 * 24 + 5, of(&[&[(0, 48)]]), Some(99 * 24)),
            (100 * 24 + 13, of(&[&[(0, 48)]]), Some(100 * 24)),
            (30, of(&[&[(240, 240 + 14 * 24)]]), Some(-240)),
            // The series covers only night hours, so not noon.
            (100 * 24 + 12, of(&[&[(0, 6)]]), None),
            // One series has only the last four days. The second of these days is used.
            (100 * 24 + 5, of(&[&[TWO_WEEKS], &[(240, 336)]]), Some(89 * 24)),
            // The series is closed from 22:00 on day 2 to 22:00 on day 4, so 21:00 maps to day 2, and 22:00 to day 1.
            (100 * 24 + 21, of(&[&[TWO_WEEKS], &[(240, 286), (334, 336)]]), Some(89 * 24)),
            (100 * 24 + 22, of(&[&[TWO_WEEKS], &[(240, 286), (334, 336)]]), Some(90 * 24)),
            // The series has only six night hours, which include 03:00 but not noon.
            (100 * 24 + 12, of(&[&[TWO_WEEKS], &[(240, 246)]]), Some(99 * 24)),
            (100 * 24 + 3, of(&[&[TWO_WEEKS], &[(240, 246)]]), Some(90 * 24)),
            (100 * 24 + 5, of(&[&[(0, 48)], &[(96, 144)]]), Some(99 * 24)),
        ] {
            assert_eq!(best_shift(hours(now), &all), expected.map(hours), "{now}: {all:?}");
        }
    }

    #[test]
    fn starts_a_venue_at_a_candle_of_every_series() {
        for (hours_of_b, asked, expected) in [
            (vec![TWO_WEEKS], None, Some(24)),
            (vec![(240, 336)], None, Some(264)),
            // A day after its start, the series is closed until hour 270.
            (vec![(240, 250), (270, 336)], None, Some(270)),
            // A quarter of 16 hours is 4 hours.
            (vec![(240, 256)], None, Some(244)),
            (vec![(400, 500)], None, Some(24)),
            (vec![(240, 336)], Some(3), Some(3)),
            (vec![(240, 336)], Some(336), None),
        ] {
            let all = [series("A", &[TWO_WEEKS]), series("B", &hours_of_b)];
            let start = choose_venue_start(&all, asked.map(hours)).ok();
            assert_eq!(start, expected.map(hours), "{hours_of_b:?}");
        }
    }

    #[test]
    fn rejects_candles_not_aligned_to_days() {
        let failure = shift_to(hours(24 * 100), &[flat_candles("A", "7m", 0..1_000)]).unwrap_err();
        assert!(failure.text().starts_with("cannot shift A 7m by whole days"), "{}", failure.text());
    }

    proptest! {
        #[test]
        fn shifts_by_whole_days_to_put_now_among_the_candles(now in 0..4_000_000_000_000_i64, span in 1..1_000_i64) {
            let (now, end) = (Millis::new(now), hours(span));
            if let Some(shift) = best_shift(now, &[series("A", &[(0, span)])]) {
                prop_assert!(shift.is_aligned_to(Millis::DAY) && now >= shift && now < end + shift);
            } else {
                prop_assert!(span < 24, "{span} hours are enough for any time of day");
            }
        }
    }
}
