//! Sets of whole UTC days.

use candlewick_sdk::Millis;
use chrono::{DateTime, NaiveDate, TimeDelta};
use std::ops::Range;

/// Unseen days between seen days count as seen if there are at most this many, because prices before and after a
/// short gap reveal its trend.
const MAX_GAP_DAYS: i64 = 30;

/// Days in disjoint ranges, in ascending order. The end of a range is exclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenDays(Vec<Range<NaiveDate>>);

impl SeenDays {
    pub fn insert(&mut self, days: &Range<NaiveDate>) {
        if days.is_empty() {
            return;
        }
        let gap = TimeDelta::days(MAX_GAP_DAYS);
        let is_near =
            |other: &Range<NaiveDate>| other.start - days.end <= gap && days.start - other.end <= gap;
        let (near, mut all): (Vec<_>, Vec<_>) = self.0.drain(..).partition(is_near);
        let start = near.iter().map(|other| other.start).fold(days.start, NaiveDate::min);
        let end = near.iter().map(|other| other.end).fold(days.end, NaiveDate::max);
        all.push(start..end);
        all.sort_unstable_by_key(|other| other.start);
        self.0 = all;
    }

    pub fn contains(&self, day: NaiveDate) -> bool {
        self.0.iter().any(|days| days.contains(&day))
    }

    pub fn covers(&self, days: &Range<NaiveDate>) -> bool {
        days.is_empty() || self.0.iter().any(|seen| seen.start <= days.start && days.end <= seen.end)
    }
}

/// Returns the UTC day of a time. Times that a calendar cannot express become the first or last day of the calendar.
pub fn day_of(at: Millis) -> NaiveDate {
    let last = if at < Millis::ZERO { NaiveDate::MIN } else { NaiveDate::MAX };
    DateTime::from_timestamp_millis(at.get()).map_or(last, |time| time.date_naive())
}

/// Returns the day after `day`, or the last day of the calendar.
pub fn next_day(day: NaiveDate) -> NaiveDate {
    day.succ_opt().unwrap_or(NaiveDate::MAX)
}

/// Returns the last day of a range.
pub fn last_day(days: &Range<NaiveDate>) -> NaiveDate {
    days.end.pred_opt().unwrap_or(days.end)
}

/// Returns the midnight at which a UTC day starts.
pub fn start_of(day: NaiveDate) -> Millis {
    Millis::new(day.and_time(chrono::NaiveTime::MIN).and_utc().timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: i64) -> NaiveDate {
        day_of(Millis::DAY * number)
    }

    fn seen(ranges: &[Range<i64>]) -> SeenDays {
        let mut seen = SeenDays::default();
        for days in ranges {
            seen.insert(&(day(days.start)..day(days.end)));
        }
        seen
    }

    #[test]
    fn joins_ranges_at_most_thirty_days_apart() {
        let joined = seen(&[100..101, 131..140]);
        assert!(joined.covers(&(day(100)..day(140))) && joined.contains(day(115)));
        let apart = seen(&[100..101, 132..140]);
        assert!(!apart.contains(day(101)) && !apart.contains(day(131)) && apart.contains(day(132)));
        // A range that fills a gap joins both sides, in any order.
        assert!(seen(&[0..1, 200..201, 31..170]).covers(&(day(0)..day(201))));
        let mut empty = SeenDays::default();
        empty.insert(&(day(5)..day(5)));
        assert_eq!(empty, SeenDays::default());
    }

    #[test]
    fn days_start_at_midnight_utc() {
        assert_eq!(day_of(Millis::new(1_767_571_199_999)).to_string(), "2026-01-04");
        assert_eq!(day_of(Millis::new(1_767_571_200_000)).to_string(), "2026-01-05");
        assert_eq!(start_of(day_of(Millis::new(1_767_600_000_000))), Millis::new(1_767_571_200_000));
        assert_eq!(day_of(Millis::new(-1)).to_string(), "1969-12-31");
        assert_eq!(
            (day_of(Millis::new(i64::MAX)), day_of(Millis::new(i64::MIN))),
            (NaiveDate::MAX, NaiveDate::MIN)
        );
    }
}
