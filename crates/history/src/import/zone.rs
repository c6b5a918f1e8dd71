//! Conversion of local times in imported files to UTC.

use super::row::{FileRows, Problem, Row, RowNumbers};
use crate::error::{ParseChoiceError, parse_choice};
use candlewick_sdk::{Interval, Millis};
use chrono::{DateTime, Datelike, FixedOffset, MappedLocalTime, NaiveDateTime, TimeZone, Timelike, Weekday};
use chrono_tz::Tz;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    Fixed(FixedOffset),
    Place(Tz),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockChange {
    /// The import fails unless each repeated local hour in the file occurs twice, one after the other.
    #[default]
    Strict,
    /// If the file contains a repeated local hour only once, its rows get the earlier UTC time.
    Earlier,
    /// If the file contains a repeated local hour only once, its rows get the later UTC time.
    Later,
    /// If rows with equal local times come in pairs, the first row of each pair gets the earlier UTC time.
    Pairs,
    /// Rows with an ambiguous or skipped local time are omitted and counted.
    Skip,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" is not a time zone: use UTC, an offset such as +02:00, or a place such as America/New_York"
)]
pub struct ParseZoneError {
    text: String,
}

impl Zone {
    /// Returns EST without daylight saving time: UTC-5 all year.
    pub(super) fn est() -> Self {
        Self::Fixed(FixedOffset::west_opt(5 * 3_600).expect("the offset is within a day"))
    }

    pub(super) fn is_utc(self) -> bool {
        match self {
            Self::Fixed(offset) => offset.local_minus_utc() == 0,
            Self::Place(place) => place == Tz::UTC,
        }
    }

    pub(super) fn is_repeated(self, wall: Millis) -> bool {
        matches!(utc_times(self, wall), MappedLocalTime::Ambiguous(..))
    }

    pub(crate) fn local_to_utc(self, wall: NaiveDateTime) -> MappedLocalTime<Millis> {
        match self {
            Self::Fixed(zone) => zone.from_local_datetime(&wall).map(|at| Millis::new(at.timestamp_millis())),
            Self::Place(zone) => zone.from_local_datetime(&wall).map(|at| Millis::new(at.timestamp_millis())),
        }
    }
}

/// Converts all rows to UTC and returns the number of omitted rows. Rows must be oldest first.
pub(super) fn convert_to_utc(decoded: &mut FileRows, zone: Zone, rule: ClockChange) -> Result<u64, Problem> {
    let mut kept = 0;
    let mut places = RowNumbers::default();
    let mut index = 0;
    while index < decoded.rows.len() {
        let end = find_overlap_end(decoded, index, zone);
        let hour =
            if end > index { RepeatedHour::from_rows(&decoded.rows[index..end]) } else { RepeatedHour::Once };
        let last = end.max(index + 1);
        if (hour, rule) == (RepeatedHour::Pairs, ClockChange::Pairs) {
            let stretch: Vec<(Row, u64)> =
                (index..last).map(|at| (decoded.rows[at], decoded.row_numbers.row_number(at))).collect();
            let in_order = stretch.iter().step_by(2).chain(stretch.iter().skip(1).step_by(2));
            for (number, (row, place)) in in_order.enumerate() {
                let MappedLocalTime::Ambiguous(first, second) = utc_times(zone, row.time) else { continue };
                let time = if number < stretch.len() / 2 { first } else { second };
                places.add(kept, *place);
                decoded.rows[kept] = Row { time, ..*row };
                kept += 1;
            }
            index = last;
            continue;
        }
        for at in index..last {
            let time = decoded.rows[at].time;
            let moment = match utc_times(zone, time) {
                MappedLocalTime::Single(moment) => Some(moment),
                MappedLocalTime::Ambiguous(first, second) => match (hour, rule) {
                    (RepeatedHour::InOrder { second: start }, _) => {
                        Some(if at - index < start { first } else { second })
                    }
                    (_, ClockChange::Skip) => None,
                    (RepeatedHour::Once, ClockChange::Earlier) => Some(first),
                    (RepeatedHour::Once, ClockChange::Later) => Some(second),
                    (hour, _) => return Err(repeated_hour_problem(decoded, at, zone, hour)),
                },
                MappedLocalTime::None if rule == ClockChange::Skip => None,
                MappedLocalTime::None => return Err(skipped_hour_problem(decoded, at, zone)),
            };
            if let Some(moment) = moment {
                places.add(kept, decoded.row_numbers.row_number(at));
                decoded.rows[kept] = decoded.rows[at];
                decoded.rows[kept].time = moment;
                kept += 1;
            }
        }
        index = last;
    }
    let skipped = (decoded.rows.len() - kept) as u64;
    decoded.rows.truncate(kept);
    decoded.row_numbers = places;
    Ok(skipped)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RepeatedHour {
    Once,
    InOrder { second: usize },
    Pairs,
    Mixed,
}

impl RepeatedHour {
    fn from_rows(rows: &[Row]) -> Self {
        let mut back = (1..rows.len()).filter(|at| rows[*at].time <= rows[at - 1].time);
        match (back.next(), back.next()) {
            (None, _) => Self::Once,
            (Some(second), None) => Self::InOrder { second },
            _ => {
                let pairs = rows.chunks(2).all(|pair| pair.len() == 2 && pair[0].time == pair[1].time);
                let ascend = rows.chunks(2).is_sorted_by(|a, b| a[0].time < b[0].time);
                if pairs && ascend { Self::Pairs } else { Self::Mixed }
            }
        }
    }
}

fn find_overlap_end(decoded: &FileRows, start: usize, zone: Zone) -> usize {
    let first = decoded.rows[start].time;
    let overlaps = |time: Millis| time.abs_diff(first) < Millis::DAY && zone.is_repeated(time);
    decoded.rows[start..].iter().position(|row| !overlaps(row.time)).map_or(decoded.rows.len(), |n| start + n)
}

/// Rejects a fixed offset if rows repeat an hour with different values. Such rows suggest clock changes.
pub(super) fn check_fixed_offset(decoded: &FileRows, zone: Zone, interval: Interval) -> Result<(), Problem> {
    let offset = match zone {
        Zone::Fixed(offset) => Millis::from_seconds(i64::from(offset.local_minus_utc())),
        Zone::Place(_) if zone.is_utc() => Millis::ZERO,
        Zone::Place(_) => return Ok(()),
    };
    let per_hour = usize::try_from(Millis::HOUR.get() / interval.length().get()).unwrap_or(0);
    if per_hour == 0 {
        return Ok(());
    }
    let mut rows: Vec<(Millis, usize)> =
        decoded.rows.iter().enumerate().map(|(index, row)| (row.time + offset, index)).collect();
    rows.sort_unstable();
    let differ = |pair: &&[(Millis, usize)]| {
        pair[0].0 == pair[1].0 && decoded.rows[pair[0].1].numbers != decoded.rows[pair[1].1].numbers
    };
    let doubled: Vec<(Millis, usize)> = rows.windows(2).filter(differ).map(|pair| pair[1]).collect();
    let is_put_back = |hour: &[(Millis, usize)]| {
        let start = DateTime::from_timestamp_millis(hour[0].0.get()).unwrap_or_default();
        let follow = hour.windows(2).all(|pair| pair[1].0 - pair[0].0 == interval.length());
        hour.len() == per_hour && follow && start.weekday() == Weekday::Sun && start.hour() < 4
    };
    if doubled.is_empty() || !doubled.chunks(per_hour).all(is_put_back) {
        return Ok(());
    }
    let (time, index) = doubled[0];
    let wall = DateTime::from_timestamp_millis(time.get()).unwrap_or_default().format("%Y-%m-%d %H:%M");
    let unit = decoded.unit.as_str();
    let seen = format!(
        "{unit} {}: the hour that starts at {wall} occurs twice with different values, as if clocks were set back, but {zone} has no daylight saving time",
        decoded.row_numbers.row_number(index)
    );
    Err(Problem::with_example(seen, "--timezone Europe/Berlin"))
}

fn utc_times(zone: Zone, wall: Millis) -> MappedLocalTime<Millis> {
    match DateTime::from_timestamp_millis(wall.get()) {
        Some(time) => zone.local_to_utc(time.naive_utc()),
        None => MappedLocalTime::None,
    }
}

fn repeated_hour_problem(decoded: &FileRows, at: usize, zone: Zone, hour: RepeatedHour) -> Problem {
    let (place, wall) = row_number_and_wall_time(decoded, at);
    let (held, option) = match hour {
        RepeatedHour::Once | RepeatedHour::InOrder { .. } => {
            ("the file holds that hour only once", "earlier, later or skip")
        }
        RepeatedHour::Pairs => (
            "the rows of the two hours alternate",
            "pairs (if the first row of each pair is the earlier one) or skip",
        ),
        RepeatedHour::Mixed => ("the order of the rows does not tell the two hours apart", "skip"),
    };
    let unit = decoded.unit.as_str();
    let seen = format!("{unit} {place}: the clock in {zone} shows {wall} twice, but {held}");
    Problem::ambiguous(seen, format!("--clock-change {option}"))
}

fn skipped_hour_problem(decoded: &FileRows, at: usize, zone: Zone) -> Problem {
    let (place, wall) = row_number_and_wall_time(decoded, at);
    let unit = decoded.unit.as_str();
    let seen = format!("{unit} {place}: the clock in {zone} skips {wall}");
    Problem::ambiguous(seen, "another --timezone, or --clock-change skip")
}

fn row_number_and_wall_time(decoded: &FileRows, at: usize) -> (u64, String) {
    let wall = DateTime::from_timestamp_millis(decoded.rows[at].time.get());
    let wall = wall.map(|time| time.format("%Y-%m-%d %H:%M:%S").to_string());
    (decoded.row_numbers.row_number(at), wall.unwrap_or_default())
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(offset) if offset.local_minus_utc() == 0 => f.pad("UTC"),
            Self::Fixed(offset) => f.pad(&offset.to_string()),
            Self::Place(place) => f.pad(place.name()),
        }
    }
}

impl FromStr for Zone {
    type Err = ParseZoneError;

    fn from_str(text: &str) -> Result<Self, ParseZoneError> {
        if let Ok(place) = text.parse() {
            return Ok(Self::Place(place));
        }
        let offset = text.parse().ok().or_else(|| parse_utc_offset(text));
        offset.map(Self::Fixed).ok_or_else(|| ParseZoneError { text: text.chars().take(64).collect() })
    }
}

/// Parses an offset such as `UTC-3` or `GMT+5:30`. Offsets ahead of UTC are positive.
fn parse_utc_offset(text: &str) -> Option<FixedOffset> {
    let distance = text.strip_prefix("UTC").or_else(|| text.strip_prefix("GMT"))?;
    let (sign, distance) = distance.split_at_checked(1).filter(|(sign, _)| ["+", "-"].contains(sign))?;
    let (hours, minutes) = distance.split_once(':').unwrap_or((distance, "00"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(hours) || !is_number(minutes) {
        return None;
    }
    format!("{sign}{hours:0>2}:{minutes}").parse().ok()
}

impl FromStr for ClockChange {
    type Err = ParseChoiceError;

    fn from_str(text: &str) -> Result<Self, ParseChoiceError> {
        let choices = [
            ("strict", Self::Strict),
            ("earlier", Self::Earlier),
            ("later", Self::Later),
            ("pairs", Self::Pairs),
            ("skip", Self::Skip),
        ];
        parse_choice(text, &choices)
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::{Clock, RowUnit};
    use super::*;
    use candlewick_sdk::Ohlcv;
    use std::path::Path;

    const NUMBERS: Ohlcv = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };

    /// Checks that local times of one day (`hh:mm`) convert to these UTC times.
    fn check(zone: &str, day: &str, walls: &[&str], rule: ClockChange, expected: Result<&[&str], &str>) {
        let millis = |day: &str, time: &str| {
            NaiveDateTime::parse_from_str(&format!("{day} {time}"), "%Y-%m-%d %H:%M")
                .unwrap()
                .and_utc()
                .timestamp_millis()
        };
        let mut decoded = FileRows::new(Clock::Wall, RowUnit::Line);
        for (index, wall) in walls.iter().enumerate() {
            let row = Row { time: Millis::new(millis(day, wall)), numbers: NUMBERS };
            decoded.push(index as u64 + 2, Ok(Some(row)), String::new).unwrap();
        }
        let found = convert_to_utc(&mut decoded, zone.parse().unwrap(), rule)
            .map(|_| decoded.rows.iter().map(|row| row.time.get()).collect::<Vec<_>>())
            .map_err(|problem| problem.in_file(Path::new("x.csv")).to_string());
        let expected = expected.map(|times| times.iter().map(|time| millis(day, time)).collect::<Vec<_>>());
        assert_eq!(found, expected.map_err(str::to_owned));
    }

    #[test]
    fn converts_local_times_to_utc() {
        let strict = ClockChange::Strict;
        check("UTC", "2024-06-03", &["17:00"], strict, Ok(&["17:00"]));
        check("+02:00", "2024-06-03", &["17:00"], strict, Ok(&["15:00"]));
        check("-05:00", "2024-06-03", &["17:00"], strict, Ok(&["22:00"]));
        check("UTC-3", "2024-06-03", &["17:00"], strict, Ok(&["20:00"]));
        check("GMT+5:30", "2024-06-03", &["17:00"], strict, Ok(&["11:30"]));
        check("UTC-03:00", "2024-06-03", &["17:00"], strict, Ok(&["20:00"]));
        for wrong in ["UTC3", "UTC-", "UTC-x", "UTC-+3", "GMT-99"] {
            assert!(wrong.parse::<Zone>().is_err(), "{wrong}");
        }
        check("America/New_York", "2024-06-03", &["17:00"], strict, Ok(&["21:00"]));
        check("America/New_York", "2024-01-03", &["17:00"], strict, Ok(&["22:00"]));
    }

    #[test]
    fn asks_about_a_repeated_hour_that_is_in_the_file_once() {
        let once = ["00:30", "01:00", "01:30", "02:00"];
        let seen = "x.csv: line 3: the clock in America/New_York shows 2024-11-03 01:00:00 twice, but the file holds that hour only once; use --clock-change earlier, later or skip";
        for (rule, expected) in [
            (ClockChange::Strict, Err(seen)),
            (ClockChange::Earlier, Ok(&["04:30", "05:00", "05:30", "07:00"][..])),
            (ClockChange::Later, Ok(&["04:30", "06:00", "06:30", "07:00"][..])),
            (ClockChange::Skip, Ok(&["04:30", "07:00"][..])),
        ] {
            check("America/New_York", "2024-11-03", &once, rule, expected);
        }
    }

    #[test]
    fn rejects_skipped_local_time() {
        let seen = "x.csv: line 2: the clock in Europe/Athens skips 2024-03-31 03:30:00; use another --timezone, or --clock-change skip";
        let walls = ["03:30", "04:00"];
        check("Europe/Athens", "2024-03-31", &walls, ClockChange::Strict, Err(seen));
        check("Europe/Athens", "2024-03-31", &walls, ClockChange::Later, Err(seen));
        check("Europe/Athens", "2024-03-31", &walls, ClockChange::Skip, Ok(&["01:00"]));
    }

    #[test]
    fn error_of_invalid_zone_shows_an_example() {
        for text in ["", "Mars", "2", "+25:00", "EST5EDT4"] {
            assert!(text.parse::<Zone>().unwrap_err().to_string().contains("America/New_York"), "{text}");
        }
        assert_eq!("+00:00".parse::<Zone>().unwrap().to_string(), "UTC");
    }
}
