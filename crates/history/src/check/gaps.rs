//! Detects candles that are missing while the market is open, and candles from hours when the market is closed.

use super::session::{MarketHours, UncertainHours};
use super::{Finding, FindingKind};
use crate::gap::gaps;
use candlewick_sdk::{CandleSeries, Interval, Millis};
use chrono::{DateTime, NaiveDate};
use std::ops::Range;

/// A candle is expected if the market is open for at least `interval / MIN_OPEN_TIME_DIVISOR` (6 h for a daily candle).
const MIN_OPEN_TIME_DIVISOR: i64 = 4;
const MIN_HOLIDAY_GAP: Millis = Millis::new(3 * Millis::HOUR.get());
/// Maximum length of a holiday gap in days, including adjacent weekends.
const MAX_HOLIDAY_DAYS: i64 = 5;

impl MarketHours {
    pub fn count_expected_candles(&self, stretch: &Range<Millis>, interval: Interval) -> u64 {
        count_slots(&self.open_periods(stretch, UncertainHours::Closed, &[]), interval)
    }
}

pub(super) fn report_gaps(
    series: &CandleSeries,
    session: &MarketHours,
    holidays: &[NaiveDate],
    note: &mut dyn FnMut(Finding),
) -> u64 {
    let mut total = 0;
    for gap in gaps(series) {
        let stretch = gap.start..gap.end;
        let expected =
            count_slots(&session.open_periods(&stretch, UncertainHours::Closed, holidays), series.interval());
        if expected > 0 {
            total += expected;
            let closed = gap.missing - expected.min(gap.missing);
            let in_closed_hours =
                if closed > 0 { format!(", plus {closed} outside market hours") } else { String::new() };
            let holiday = suggest_holiday(&stretch, session, holidays, series.interval());
            let holiday = holiday.map(|date| format!("; add --holiday {date} if the market was closed"));
            let detail = format!("{expected} missing{in_closed_hours}{}", holiday.unwrap_or_default());
            note(Finding::in_period(FindingKind::Gap, stretch, expected, detail));
        }
    }
    total
}

fn suggest_holiday(
    gap: &Range<Millis>,
    session: &MarketHours,
    holidays: &[NaiveDate],
    interval: Interval,
) -> Option<NaiveDate> {
    let length = gap.end - gap.start;
    if *session == MarketHours::Always || length < MIN_HOLIDAY_GAP || length > Millis::DAY * MAX_HOLIDAY_DAYS
    {
        return None;
    }
    let wide = gap.start - Millis::DAY * 2..gap.end + Millis::DAY * 2;
    let hours = |within: &Range<Millis>, holidays: &[NaiveDate]| {
        let open = session.open_periods(within, UncertainHours::Open, holidays);
        open.iter().map(|stretch| (stretch.end - stretch.start).get()).sum::<i64>()
    };
    let first = DateTime::from_timestamp_millis(gap.start.get())?.date_naive().pred_opt()?;
    let explains = |date: &NaiveDate| {
        let with = [holidays, &[*date]].concat();
        let closed = |within: &Range<Millis>| hours(within, holidays) - hours(within, &with);
        let all = closed(&wide);
        all > 0
            && all == closed(gap)
            && count_slots(&session.open_periods(gap, UncertainHours::Closed, &with), interval) == 0
    };
    first.iter_days().take(MAX_HOLIDAY_DAYS as usize + 2).find(explains)
}

pub fn count_missing_candles(series: &CandleSeries) -> u64 {
    report_gaps(series, &MarketHours::from_symbol(series.symbol()), &[], &mut drop)
}

pub fn count_candles_in_closed_hours(series: &CandleSeries) -> u64 {
    let mut count = 0;
    let session = MarketHours::from_symbol(series.symbol());
    report_closed_hours(series, &session, &[], &mut |finding| count += finding.count);
    count
}

fn count_slots(open: &[Range<Millis>], interval: Interval) -> u64 {
    let length = interval.length().get();
    let mut count = 0;
    let mut last: Option<(i64, i64)> = None;
    let mut settle = |slot: i64, open_ms: i64| {
        let (before, sum) = match last {
            Some((same, sum)) if same == slot => (None, sum + open_ms),
            before => (before, open_ms),
        };
        last = Some((slot, sum));
        before
    };
    let is_expected = |slot: Option<(i64, i64)>| {
        u64::from(slot.is_some_and(|(_, open_ms)| open_ms * MIN_OPEN_TIME_DIVISOR >= length))
    };
    for stretch in open {
        let (start, end) = (stretch.start.get(), stretch.end.get());
        let (first, after) = (start.div_euclid(length), (end - 1).div_euclid(length));
        count += is_expected(settle(first, end.min((first + 1) * length) - start));
        if after > first {
            // The market is open in all candle intervals between the two.
            count += u64::try_from(after - first - 1).unwrap_or(0);
            count += is_expected(settle(after, end - after * length));
        }
    }
    count + is_expected(last)
}

pub(super) fn report_closed_hours(
    series: &CandleSeries,
    session: &MarketHours,
    holidays: &[NaiveDate],
    note: &mut dyn FnMut(Finding),
) {
    let interval = series.interval();
    let open = session.open_periods(&(series.start()..series.end()), UncertainHours::Open, holidays);
    let mut rest = open.as_slice();
    let mut run: Option<(Range<Millis>, u64)> = None;
    let mut add = |run: Option<(Range<Millis>, u64)>| {
        if let Some((stretch, count)) = run {
            let detail = format!("{count} candles are outside market hours; check the time zone");
            note(Finding::in_period(FindingKind::Closed, stretch, count, detail));
        }
    };
    for candle in series.candles() {
        let slot = candle.time()..candle.close_time(interval);
        while rest.first().is_some_and(|stretch| stretch.end <= slot.start) {
            rest = &rest[1..];
        }
        if rest.first().is_some_and(|stretch| stretch.start < slot.end) {
            add(run.take());
            continue;
        }
        run = match run {
            Some((stretch, count)) => Some((stretch.start..slot.end, count + 1)),
            None => Some((slot, 1)),
        };
    }
    add(run);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(open: &[(i64, i64)], hours: i64, count: u64) {
        let open: Vec<_> = open.iter().map(|(from, to)| Millis::HOUR * *from..Millis::HOUR * *to).collect();
        let interval = Interval::from_seconds(hours * 3_600).unwrap();
        assert_eq!(count_slots(&open, interval), count, "{open:?} {hours}");
    }

    #[test]
    fn expects_candle_if_a_quarter_of_its_time_is_open() {
        check(&[], 1, 0);
        check(&[(0, 5)], 1, 5);
        check(&[(0, 1), (10, 12)], 1, 3);
        // Open for half of the first four hours, all of the next four, and a quarter of the last four.
        check(&[(2, 9)], 4, 3);
        // A day with six open hours, one with five, and one with two and four.
        check(&[(9, 15), (33, 38), (57, 59), (65, 69)], 24, 2);
        check(&[(-30, -20)], 24, 1);
    }
}
