//! Recurring times of day in a time zone, weekly or yearly, across DST changes.

use super::cell::zone_words;
use candlewick_sdk::Millis;
use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, TimeDelta, TimeZone as _, Timelike, Weekday};
use chrono_tz::Tz;

const TIMES: [&str; 2] = ["%H:%M", "%H:%M:%S"];
/// Search horizon for the next time: a week, and another one if DST omits the time.
const LOOKED_AT: i64 = 15;
/// Search horizon for the next 29 February: 1900 and 2100 have none.
const YEARS: i32 = 8;
const FARTHEST: Millis = Millis::from_seconds(16 * 3_600);

/// Parses `14:35`, `14:35:00`, `14h35` or `2:35 PM`.
pub(super) fn time_of_day(text: &str) -> Option<NaiveTime> {
    let upper = text.to_ascii_uppercase();
    let (clock, half) = match (upper.strip_suffix("AM"), upper.strip_suffix("PM")) {
        (Some(clock), _) => (clock.trim_end(), Some(0)),
        (None, Some(clock)) => (clock.trim_end(), Some(12)),
        (None, None) => (upper.as_str(), None),
    };
    // 10:45h
    let clock = clock.strip_suffix('H').filter(|clock| clock.contains(':')).unwrap_or(clock);
    let colon = clock.replacen('H', ":", 1);
    // 10:5 is a cell that was cut short.
    if colon.split(':').skip(1).any(|part| part.len() != 2) {
        return None;
    }
    let time = TIMES.iter().find_map(|form| NaiveTime::parse_from_str(&colon, form).ok())?;
    if is_leap_second(&time) {
        return None;
    }
    let Some(half) = half else { return Some(time) };
    // 12 AM is midnight, 12 PM noon.
    let hour = Some(time.hour()).filter(|hour| (1..=12).contains(hour))?;
    time.with_hour(hour % 12 + half)
}

/// Returns whether a time is second 60 of a minute, which no venue's clock shows.
pub(super) fn is_leap_second(time: &impl Timelike) -> bool {
    time.nanosecond() >= 1_000_000_000
}

/// A recurring time of day.
///
/// There is none on a day when the DST change omits the time. If the time occurs twice, the first
/// one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockTime {
    pub(crate) time: NaiveTime,
    pub(crate) zone: Tz,
    pub(crate) days: WeekDays,
    pub(crate) date: Option<(u32, u32)>,
}

/// Days of the week, one bit each, starting with Monday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WeekDays(u8);

impl WeekDays {
    const NAMES: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

    /// Parses `mon-fri`, `mon wed sat` or `Monday`. Empty means every day.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.to_ascii_lowercase();
        let place = |name: &str| {
            let place = Self::NAMES.iter().position(|full| name.len() >= 3 && full.starts_with(name));
            place.ok_or_else(|| {
                format!(
                    "{name:?} is no day: use mon, tue, wed, thu, fri, sat, sun, as mon-fri or mon wed sat"
                )
            })
        };
        let mut bits = 0_u8;
        for part in text.split([' ', ';', '|', ',']).filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (place(first.trim())?, place(last.trim())?);
            let mut day = first;
            bits |= 1 << day;
            while day != last {
                day = (day + 1) % 7;
                bits |= 1 << day;
            }
        }
        Ok(Self(if bits == 0 { 0x7f } else { bits }))
    }

    fn words(self) -> String {
        if self.0 == 0x7f {
            return "each day".to_owned();
        }
        let names = Self::NAMES.into_iter().enumerate().filter(|(place, _)| self.0 & (1 << place) != 0);
        names.map(|(_, name)| &name[..3]).collect::<Vec<_>>().join(" ")
    }

    const fn hold(self, day: Weekday) -> bool {
        self.0 & (1 << day.num_days_from_monday()) != 0
    }

    pub(crate) const fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl ClockTime {
    pub(crate) fn words(self) -> String {
        let days = match self.date {
            Some((month, day)) => format!("each year on {month:02}-{day:02}"),
            None => self.days.words(),
        };
        format!("{} {days}, {}", self.time, zone_words(self.zone))
    }

    /// Returns the moments in `(from, to]`, ascending.
    pub(crate) fn between(self, from: Millis, to: Millis) -> impl Iterator<Item = Millis> {
        let (first, last) = (utc_day(from, -1), utc_day(to, 1));
        let days = first.into_iter().flat_map(|day| day.iter_days());
        let days = days.take_while(move |day| last.is_some_and(|last| *day <= last));
        // What is far away on the clock of UTC is so on every clock.
        let is_near = move |day: &NaiveDate| {
            let utc = Millis::new(day.and_time(self.time).and_utc().timestamp_millis());
            from - FARTHEST < utc && utc <= to + FARTHEST
        };
        let moments = days.filter(is_near).filter_map(move |day| self.on(day));
        moments.filter(move |moment| from < *moment && *moment <= to)
    }

    pub(crate) fn next_after(self, from: Millis) -> Option<Millis> {
        let Some((month, day)) = self.date else {
            return self.between(from, from + Millis::DAY * LOOKED_AT).next();
        };
        let year = utc_day(from, -1)?.year();
        let days = (year..=year + YEARS).filter_map(|year| NaiveDate::from_ymd_opt(year, month, day));
        days.filter_map(|day| self.on(day)).find(|moment| *moment > from)
    }

    fn on(self, day: NaiveDate) -> Option<Millis> {
        let is_its_date = self.date.is_none_or(|date| date == (day.month(), day.day()));
        if !is_its_date || !self.days.hold(day.weekday()) {
            return None;
        }
        let moment = self.zone.from_local_datetime(&day.and_time(self.time)).earliest()?;
        Some(Millis::new(moment.timestamp_millis()))
    }
}

fn utc_day(moment: Millis, days: i64) -> Option<NaiveDate> {
    let day = DateTime::from_timestamp_millis(moment.get())?.date_naive();
    day.checked_add_signed(TimeDelta::days(days))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sandbox::parse_time;

    fn clock_time(time: &str, zone: &str, days: &str) -> ClockTime {
        let time = NaiveTime::parse_from_str(time, "%H:%M").unwrap();
        ClockTime { time, zone: zone.parse().unwrap(), days: WeekDays::parse(days).unwrap(), date: None }
    }

    /// Moments within days, as UTC; the expected ones are from `date -u -d 'TZ="..." ...'`.
    fn check((time, zone, days): (&str, &str, &str), (from, to): (&str, &str), expected: &[&str]) {
        let moment = |text: &str| parse_time(text).unwrap();
        let moments = clock_time(time, zone, days).between(moment(from), moment(to));
        let expected: Vec<Millis> = expected.iter().map(|text| moment(text)).collect();
        assert_eq!(moments.collect::<Vec<_>>(), expected, "{time} {zone} {days}");
    }

    #[test]
    fn a_time_of_day_is_read_as_people_write_it() {
        for (text, expected) in [
            ("14:35", Some("14:35:00")),
            ("9:05:07", Some("09:05:07")),
            ("14h35", Some("14:35:00")),
            ("9H05", Some("09:05:00")),
            ("10:45h", Some("10:45:00")),
            ("2:35 PM", Some("14:35:00")),
            ("2:35pm", Some("14:35:00")),
            ("12:00 AM", Some("00:00:00")),
            ("12:30 pm", Some("12:30:00")),
            ("11:59:30 AM", Some("11:59:30")),
            ("14:35 PM", None),
            ("0:10 AM", None),
            ("24:00", None),
            ("23:59:60", None),
            ("11:59:60 PM", None),
            ("14h", None),
            ("10:5", None),
            ("10:05:7", None),
            ("14h5", None),
            ("H1", None),
            ("h24", None),
            ("14.35", None),
            ("PM", None),
            ("", None),
        ] {
            let found = time_of_day(text).map(|time| time.format("%H:%M:%S").to_string());
            assert_eq!(found.as_deref(), expected, "{text:?}");
        }
        assert_eq!(clock_time("10:30", "Europe/Berlin", "").words(), "10:30:00 each day, Europe/Berlin");
        assert_eq!(clock_time("10:30", "UTC", "mon-wed sun").words(), "10:30:00 mon tue wed sun, UTC");
    }

    #[test]
    fn in_the_night_that_leaves_a_time_out_there_is_none() {
        // 2026-03-29: 02:00 becomes 03:00 in Berlin; 2026-03-08 in New York.
        let span = ("2026-03-27T12:00", "2026-03-31T12:00");
        check(
            ("02:30", "Europe/Berlin", ""),
            span,
            &["2026-03-28T01:30", "2026-03-30T00:30", "2026-03-31T00:30"],
        );
        let all = ["2026-03-28T00:59", "2026-03-29T00:59", "2026-03-29T23:59", "2026-03-30T23:59"];
        check(("01:59", "Europe/Berlin", ""), span, &all);
        let all = ["2026-03-28T02:00", "2026-03-29T01:00", "2026-03-30T01:00", "2026-03-31T01:00"];
        check(("03:00", "Europe/Berlin", ""), span, &all);
        let span = ("2026-03-07T12:00", "2026-03-09T12:00");
        check(("02:30", "America/New_York", ""), span, &["2026-03-09T06:30"]);
    }

    #[test]
    fn a_time_that_comes_twice_in_a_night_counts_the_first_time() {
        // 2026-10-25: 03:00 becomes 02:00 in Berlin; 2026-11-01 in New York.
        let span = ("2026-10-24T12:00", "2026-10-26T12:00");
        check(("02:30", "Europe/Berlin", ""), span, &["2026-10-25T00:30", "2026-10-26T01:30"]);
        check(("03:00", "Europe/Berlin", ""), span, &["2026-10-25T02:00", "2026-10-26T02:00"]);
        let span = ("2026-10-31T12:00", "2026-11-02T12:00");
        check(("01:30", "America/New_York", ""), span, &["2026-11-01T05:30", "2026-11-02T06:30"]);
        // Half an hour: Lord Howe goes from 02:00 back to 01:30 on 2026-04-05.
        let span = ("2026-04-04T12:00", "2026-04-05T12:00");
        check(("01:45", "Australia/Lord_Howe", ""), span, &["2026-04-04T14:45"]);
    }

    #[test]
    fn a_date_without_a_year_comes_once_a_year() {
        let moment = |text: &str| parse_time(text).unwrap();
        let of = |month, day| ClockTime {
            date: Some((month, day)),
            ..clock_time("10:00", "America/Sao_Paulo", "")
        };
        // Sao Paulo is 3 h behind UTC since 2019.
        let all: Vec<Millis> =
            of(11, 27).between(moment("2026-01-01T00:00"), moment("2028-01-01T00:00")).collect();
        assert_eq!(all, [moment("2026-11-27T13:00"), moment("2027-11-27T13:00")]);
        assert_eq!(of(11, 27).next_after(all[0]), Some(all[1]));
        assert_eq!(of(11, 27).next_after(all[0] - Millis::new(1)), Some(all[0]));
        assert_eq!(of(2, 29).next_after(moment("2026-01-01T00:00")), Some(moment("2028-02-29T13:00")));
        assert_eq!(of(2, 29).next_after(moment("2096-03-01T00:00")), Some(moment("2104-02-29T13:00")));
    }

    #[test]
    fn days_are_those_of_the_zone_and_a_span_begins_after_its_start() {
        // 2026-01-04 is a Sunday.
        let span = ("2026-01-03T00:00", "2026-01-06T00:00");
        check(("23:30", "America/New_York", "sun"), span, &["2026-01-05T04:30"]);
        check(("08:00", "UTC", "mon-fri"), span, &["2026-01-05T08:00"]);
        check(
            ("08:00", "UTC", "sat-mon"),
            span,
            &["2026-01-03T08:00", "2026-01-04T08:00", "2026-01-05T08:00"],
        );
        check(("08:00", "UTC", "SUN; tue"), span, &["2026-01-04T08:00"]);
        check(("08:00", "UTC", ""), ("2026-01-05T08:00", "2026-01-06T08:00"), &["2026-01-06T08:00"]);
        // A day that a zone left out: Samoa skipped 2011-12-30.
        let span = ("2011-12-29T00:00", "2012-01-01T00:00");
        check(
            ("12:00", "Pacific/Apia", ""),
            span,
            &["2011-12-29T22:00", "2011-12-30T22:00", "2011-12-31T22:00"],
        );
        assert!(WeekDays::parse("mon-").is_err() && WeekDays::parse("mo").is_err());
        let full = WeekDays::parse("Monday tues fri-Sunday").unwrap();
        assert_eq!(full.words(), "mon tue fri sat sun");
        let sunday = clock_time("08:00", "UTC", "sun");
        let next = sunday.next_after(parse_time("2026-01-04T08:00").unwrap());
        assert_eq!(next, parse_time("2026-01-11T08:00"));
    }
}
