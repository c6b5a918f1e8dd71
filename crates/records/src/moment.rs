//! Moments as people read them.

use candlewick_sdk::Millis;
use chrono::{DateTime, SecondsFormat};

/// In UTC, to the millisecond.
pub fn utc(at: Millis) -> String {
    match DateTime::from_timestamp_millis(at.get()) {
        Some(time) => time.to_rfc3339_opts(SecondsFormat::Millis, true),
        None => format!("{at} ms"),
    }
}

/// The day and the second, in UTC.
pub(crate) fn clock(at: Millis) -> String {
    let time = DateTime::from_timestamp_millis(at.get());
    time.map_or_else(|| format!("{at} ms"), |time| time.format("%m-%d %H:%M:%S").to_string())
}

/// The time of the day, in UTC, to the millisecond.
pub(crate) fn time_of_day(at: Millis) -> String {
    let time = DateTime::from_timestamp_millis(at.get());
    time.map_or_else(|| format!("{at} ms"), |time| time.format("%H:%M:%S%.3f").to_string())
}

/// How much later, in seconds, with its sign.
pub fn delta(from: Millis, to: Millis) -> String {
    let difference = (to - from).get();
    let sign = if difference < 0 { '-' } else { '+' };
    let size = difference.unsigned_abs();
    format!("{sign}{}.{:03} s", size / 1_000, size % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_spans_are_written_to_the_millisecond() {
        assert_eq!(utc(Millis::new(1_767_571_200_005)), "2026-01-05T00:00:00.005Z");
        assert_eq!(utc(Millis::MAX), "9223372036854775807 ms");
        assert_eq!(clock(Millis::new(1_767_571_265_005)), "01-05 00:01:05");
        assert_eq!(time_of_day(Millis::new(1_767_571_265_005)), "00:01:05.005");
        for (from, to, expected) in [(0, 1_500, "+1.500 s"), (1_500, 0, "-1.500 s"), (7, 7, "+0.000 s")] {
            assert_eq!(delta(Millis::new(from), Millis::new(to)), expected);
        }
    }
}
