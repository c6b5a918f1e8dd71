//! Formatting of times, counts and halts.

use candlewick_engine::Halt;
use candlewick_sdk::{Millis, escape_hidden, group_thousands};
use chrono::{DateTime, SecondsFormat};
use std::fmt::Display;

pub fn format_utc(at: Millis) -> String {
    match DateTime::from_timestamp_millis(at.get()) {
        Some(time) => time.to_rfc3339_opts(SecondsFormat::Millis, true),
        None => format!("{at} ms"),
    }
}

pub fn format_time(at: Millis, pattern: &str) -> String {
    let time = DateTime::from_timestamp_millis(at.get());
    time.map_or_else(|| format!("{at} ms"), |time| time.format(pattern).to_string())
}

pub fn describe_halt(halt: &Halt) -> String {
    let before = || " before this run began".to_owned();
    let at = halt.at.map_or_else(before, |at| format!(" at {}", format_time(at, "%Y-%m-%d %H:%M:%S UTC")));
    let reason = Some(escape_hidden(&halt.reason)).filter(|reason| !reason.is_empty());
    format!("halted{at}{}", reason.map_or_else(String::new, |reason| format!(": {reason}")))
}

pub(crate) fn format_short_time(at: Millis) -> String {
    format_time(at, "%m-%d %H:%M:%S")
}

pub(crate) fn format_time_of_day(at: Millis) -> String {
    format_time(at, "%H:%M:%S%.3f")
}

pub fn format_delta(from: Millis, to: Millis) -> String {
    let difference = (to - from).get();
    let sign = if difference < 0 { '-' } else { '+' };
    let size = difference.unsigned_abs();
    format!("{sign}{}.{:03} s", size / 1_000, size % 1_000)
}

/// Separates the thousands of a number with commas.
pub fn format_number(number: impl Display) -> String {
    group_thousands(&number.to_string())
}

pub fn count_text(count: impl TryInto<u64>, one: &str, several: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{} {}", format_number(count), if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_times_and_differences_to_the_millisecond() {
        assert_eq!(format_utc(Millis::new(1_767_571_200_005)), "2026-01-05T00:00:00.005Z");
        assert_eq!(format_utc(Millis::MAX), "9223372036854775807 ms");
        assert_eq!(format_short_time(Millis::new(1_767_571_265_005)), "01-05 00:01:05");
        assert_eq!(format_time_of_day(Millis::new(1_767_571_265_005)), "00:01:05.005");
        let halt = |at, reason: &str| describe_halt(&Halt { at, reason: reason.to_owned() });
        let at = Some(Millis::new(1_767_571_265_005));
        assert_eq!(halt(at, "news at noon"), "halted at 2026-01-05 00:01:05 UTC: news at noon");
        assert_eq!(halt(at, ""), "halted at 2026-01-05 00:01:05 UTC");
        assert_eq!(halt(None, ""), "halted before this run began");
        for (from, to, expected) in [(0, 1_500, "+1.500 s"), (1_500, 0, "-1.500 s"), (7, 7, "+0.000 s")] {
            assert_eq!(format_delta(Millis::new(from), Millis::new(to)), expected);
        }
    }
}
