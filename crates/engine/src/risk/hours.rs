//! Trading hours: weekdays and times of day in a time zone.

use super::zone_help::{invalid_time_zone_hint, parse_time_zone};
use super::{Proposal, RiskView, Ruling, refuse_if};
use crate::EngineError;
use candlewick_sdk::Millis;
use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, Offset, TimeZone, Timelike};
use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A window of trading hours: `{ days = ["mon", "tue"], from = "22:00", to = "06:00", timezone = "Europe/London" }`.
///
/// A window that ends at or before its start time crosses midnight and belongs to the day on which it starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hours {
    /// Days on which the window starts, such as `["mon", "wed"]` or `["mon-fri"]`. Every day if empty.
    #[serde(default, deserialize_with = "read_days")]
    #[schemars(with = "Vec<String>")]
    pub days: Vec<Weekday>,
    /// Start of the window as `HH:MM`, inclusive.
    pub from: String,
    /// End of the window as `HH:MM`, exclusive.
    pub to: String,
    /// Time zone of `from` and `to`, such as `UTC` or `America/New_York`.
    #[serde(default = "default_timezone")]
    pub timezone: String,
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { days, from, to, timezone } = self;
        write!(f, "from {from} to {to} {timezone}")?;
        days.iter().try_for_each(|day| write!(f, " {}", format!("{day:?}").to_lowercase()))
    }
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // self-explanatory names
pub enum Weekday {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

/// A validated window of trading hours.
/// Shared by rules, strategy filters and the `[risk].hours` setting, so that all agree on when a window is open.
#[derive(Clone, Debug)]
pub struct TradingWindow {
    days: Vec<Weekday>,
    from: NaiveTime,
    to: NaiveTime,
    timezone: Tz,
}

/// The local time at which a day starts, for daily limits and trade gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayStart {
    time: NaiveTime,
    timezone: Tz,
}

fn default_timezone() -> String {
    "UTC".to_owned()
}

impl TradingWindow {
    /// Validates a window of trading hours. Error messages name the setting `key`.
    pub fn new(hours: &Hours, key: &str) -> Result<Self, EngineError> {
        Ok(Self {
            days: hours.days.clone(),
            from: parse_time(&hours.from, &format!("{key}.from"))?,
            to: parse_time(&hours.to, &format!("{key}.to"))?,
            timezone: parse_timezone(&hours.timezone, &format!("{key}.timezone"))?,
        })
    }

    /// Returns whether a time is inside the window.
    pub fn contains(&self, at: Millis) -> bool {
        let Some(moment) = DateTime::from_timestamp_millis(at.get()) else { return false };
        let local = moment.with_timezone(&self.timezone);
        let (time, today) = (local.time(), local.weekday());
        if self.from < self.to {
            self.starts_on(today) && self.from <= time && time < self.to
        } else {
            (self.starts_on(today) && time >= self.from) || (self.starts_on(today.pred()) && time < self.to)
        }
    }

    fn starts_on(&self, day: chrono::Weekday) -> bool {
        self.days.is_empty() || self.days.iter().any(|own| *own as u32 == day.num_days_from_monday())
    }

    /// Returns the next start of the window after `at`.
    /// If a clock change skips the start, the result is the first moment after the skipped time.
    pub fn next_start(&self, at: Millis) -> Option<Millis> {
        let start = DayStart { time: self.from, timezone: self.timezone };
        let today = DateTime::from_timestamp_millis(at.get())?.with_timezone(&self.timezone).date_naive();
        // Today's start may have passed, so the search covers eight days.
        let days = today.iter_days().take(8).filter(|day| self.starts_on(day.weekday()));
        days.filter_map(|day| start.start_of(day)).find(|start| *start > at)
    }
}

/// The local clock of a time zone, with daylight saving time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalClock {
    timezone: Tz,
}

impl LocalClock {
    /// Creates the clock of an IANA time zone. Error messages name the setting `key`.
    pub fn new(timezone: &str, key: &str) -> Result<Self, EngineError> {
        Ok(Self { timezone: parse_timezone(timezone, key)? })
    }

    /// Returns the local time at `at`, in milliseconds since 1970-01-01 00:00 local time.
    /// Clock changes shift the result, so values may repeat or be skipped.
    pub fn local_time(self, at: Millis) -> Millis {
        let Some(moment) = DateTime::from_timestamp_millis(at.get()) else { return at };
        let ahead = self.timezone.offset_from_utc_datetime(&moment.naive_utc()).fix().local_minus_utc();
        at + Millis::from_seconds(i64::from(ahead))
    }
}

impl DayStart {
    /// Parses the start of a day, such as `00:00`, in an IANA time zone.
    /// Error messages name the keys `day_start` and `day_timezone` of `section`, such as `risk`.
    pub fn new(time: &str, timezone: &str, section: &str) -> Result<Self, EngineError> {
        Ok(Self {
            time: parse_time(time, &format!("{section}.day_start"))?,
            timezone: parse_timezone(timezone, &format!("{section}.day_timezone"))?,
        })
    }

    /// Returns the start of the day that contains `at`, and the start of the next day.
    pub fn day_bounds(self, at: Millis) -> (Millis, Millis) {
        if self.timezone == Tz::UTC {
            // Fast path: all UTC days have the same length, and long backtests ask for many days.
            let time = Millis::from_seconds(i64::from(self.time.num_seconds_from_midnight()));
            let start = (at - time).floor_to(Millis::DAY) + time;
            return (start, start + Millis::DAY);
        }
        let fallback = (at.floor_to(Millis::DAY), at.floor_to(Millis::DAY) + Millis::DAY);
        let Some(moment) = DateTime::from_timestamp_millis(at.get()) else { return fallback };
        let today = moment.with_timezone(&self.timezone).date_naive();
        let start = self.start_of(today);
        let days = if start.is_some_and(|start| start <= at) {
            (Some(today), today.checked_add_days(Days::new(1)))
        } else {
            (today.checked_sub_days(Days::new(1)), Some(today))
        };
        let starts = (days.0.and_then(|day| self.start_of(day)), days.1.and_then(|day| self.start_of(day)));
        match starts {
            (Some(start), Some(end)) => (start, end),
            _ => fallback,
        }
    }

    /// Returns the start of `day`, or the first moment after the skipped time if a clock change skips the start.
    fn start_of(self, day: NaiveDate) -> Option<Millis> {
        let mut local = day.and_time(self.time);
        for _ in 0..25 {
            if let Some(moment) = self.timezone.from_local_datetime(&local).earliest() {
                return Some(Millis::new(moment.timestamp_millis()));
            }
            // Clocks skip whole minutes. Steps of 15 minutes get past every known skip.
            local = local.checked_add_signed(chrono::Duration::minutes(15))?;
        }
        None
    }
}

fn parse_time(text: &str, key: &str) -> Result<NaiveTime, EngineError> {
    NaiveTime::parse_from_str(text, "%H:%M").ok().filter(|time| time.second() == 0).ok_or_else(|| {
        EngineError::setting(
            key,
            format!("\"{text}\" is not a time of day; use HH:MM, such as 09:30, or 00:00 for midnight"),
        )
    })
}

fn parse_timezone(text: &str, key: &str) -> Result<Tz, EngineError> {
    parse_time_zone(text).ok_or_else(|| {
        EngineError::setting(key, format!("\"{text}\" is not a time zone: {}", invalid_time_zone_hint(text)))
    })
}

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Mon),
    ("tuesday", Weekday::Tue),
    ("wednesday", Weekday::Wed),
    ("thursday", Weekday::Thu),
    ("friday", Weekday::Fri),
    ("saturday", Weekday::Sat),
    ("sunday", Weekday::Sun),
];

fn read_days<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Weekday>, D::Error> {
    let mut days = Vec::new();
    for text in Vec::<String>::deserialize(deserializer)? {
        let found = parse_days(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "days: {text:?} is not a weekday; use names such as [\"mon\", \"wed\"] or [\"mon-fri\"]"
            ))
        })?;
        for day in found {
            if !days.contains(&day) {
                days.push(day);
            }
        }
    }
    Ok(days)
}

fn parse_days(text: &str) -> Option<Vec<Weekday>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (weekday_index(first)?, weekday_index(last)?);
    let count = (last + 7 - first) % 7 + 1;
    Some(WEEKDAYS.iter().cycle().skip(first).take(count).map(|(_, day)| *day).collect())
}

fn weekday_index(name: &str) -> Option<usize> {
    let name = name.trim().to_ascii_lowercase();
    WEEKDAYS.iter().position(|(full, _)| name.len() >= 3 && full.starts_with(&name))
}

#[inline]
pub(super) fn check_outside_hours(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let hours = &view.limits.hours;
    if hours.is_empty() { Ruling::Pass } else { check_hours(hours, proposal.at) }
}

#[inline(never)]
fn check_hours(hours: &[TradingWindow], at: Millis) -> Ruling {
    refuse_if(!hours.iter().any(|window| window.contains(at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn at(text: &str) -> Millis {
        Millis::new(text.parse::<DateTime<chrono::Utc>>().unwrap().timestamp_millis())
    }

    fn window(days: &[Weekday], from: &str, to: &str, timezone: &str) -> TradingWindow {
        let [from, to, timezone] = [from, to, timezone].map(str::to_owned);
        TradingWindow::new(&Hours { days: days.to_vec(), from, to, timezone }, "risk.hours").unwrap()
    }

    #[test]
    fn local_clock_follows_daylight_saving_time_of_its_zone() {
        // From `TZ=... date -d ...`: London changes its clocks on 2026-03-29 and 2026-10-25 at 01:00 UTC.
        for (zone, moment, shown) in [
            ("Europe/London", "2026-03-29T00:59:00Z", "2026-03-29T00:59:00Z"),
            ("Europe/London", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"),
            ("Europe/London", "2026-10-25T00:59:00Z", "2026-10-25T01:59:00Z"),
            ("Europe/London", "2026-10-25T01:00:00Z", "2026-10-25T01:00:00Z"),
            ("America/New_York", "2026-01-05T02:30:00Z", "2026-01-04T21:30:00Z"),
            ("Asia/Kolkata", "2026-07-01T20:00:00Z", "2026-07-02T01:30:00Z"),
            ("Australia/Lord_Howe", "2026-01-05T00:00:00Z", "2026-01-05T11:00:00Z"),
        ] {
            let found = LocalClock::new(zone, "zone").unwrap().local_time(at(moment));
            assert_eq!(found, at(shown), "{zone} {moment}");
        }
        assert!(LocalClock::new("Europe/Lundon", "zone").is_err());
    }

    #[test]
    fn day_starts_at_its_local_time_across_clock_changes() {
        for (start, zone, moment, begin, end) in [
            ("00:00", "UTC", "01-05T00:00:00", "01-05T00:00", "01-06T00:00"),
            ("00:00", "UTC", "01-05T23:59:59", "01-05T00:00", "01-06T00:00"),
            ("17:00", "America/New_York", "01-05T21:59:00", "01-04T22:00", "01-05T22:00"),
            ("17:00", "America/New_York", "01-05T22:00:00", "01-05T22:00", "01-06T22:00"),
            // Days of 23 and 25 hours: London's clocks go from 01:00 to 02:00 on 2026-03-29, and back on 2026-10-25.
            ("00:00", "Europe/London", "03-29T12:00:00", "03-29T00:00", "03-29T23:00"),
            ("00:00", "Europe/London", "10-25T12:00:00", "10-24T23:00", "10-26T00:00"),
            ("01:30", "Europe/London", "03-29T12:00:00", "03-29T01:00", "03-30T00:30"),
        ] {
            let day = DayStart::new(start, zone, "risk").unwrap().day_bounds(at(&format!("2026-{moment}Z")));
            let expected = [begin, end].map(|edge| at(&format!("2026-{edge}:00Z")));
            assert_eq!([day.0, day.1], expected, "{start} {zone} {moment}");
        }
    }

    #[test]
    fn next_start_is_on_one_of_the_window_days_in_its_zone() {
        use Weekday::{Mon, Wed};
        for (days, from, timezone, moment, expected) in [
            (&[][..], "08:00", "UTC", "2026-01-05T07:59:59Z", "2026-01-05T08:00:00Z"),
            (&[], "08:00", "UTC", "2026-01-05T08:00:00Z", "2026-01-06T08:00:00Z"),
            // 2026-01-05 is a Monday.
            (&[Mon], "08:00", "UTC", "2026-01-05T08:00:00Z", "2026-01-12T08:00:00Z"),
            (&[Mon, Wed], "22:00", "America/New_York", "2026-01-06T04:00:00Z", "2026-01-08T03:00:00Z"),
            // London's clocks go from 01:00 to 02:00 on 2026-03-29.
            (&[], "01:30", "Europe/London", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"),
        ] {
            let next = window(days, from, "23:00", timezone).next_start(at(moment));
            assert_eq!(next, Some(at(expected)), "{days:?} {from} {timezone} {moment}");
        }
    }

    proptest! {
        #[test]
        fn utc_fast_path_matches_a_zone_without_offset(
            at in -4_000_000_000_000_i64..4_000_000_000_000,
            minutes in 0_u32..1_440,
        ) {
            let start = format!("{:02}:{:02}", minutes / 60, minutes % 60);
            let day = |timezone| DayStart::new(&start, timezone, "risk").unwrap().day_bounds(Millis::new(at));
            prop_assert_eq!(day("UTC"), day("Etc/UTC"));
        }
    }

    #[test]
    fn window_includes_its_start_but_not_its_end_and_may_cross_midnight() {
        // 2026-01-05 is a Monday.
        for (days, from, to, inside, outside) in [
            (&[][..], "09:00", "17:00", "05T09:00:00Z", "05T17:00:00Z"),
            (&[], "09:00", "17:00", "05T16:59:59.999Z", "05T08:59:59.999Z"),
            (&[Weekday::Mon], "22:00", "06:00", "05T23:00:00Z", "05T05:00:00Z"),
            (&[Weekday::Mon], "22:00", "06:00", "06T05:59:00Z", "06T23:00:00Z"),
            (&[Weekday::Mon], "22:00", "06:00", "05T22:00:00Z", "05T21:59:59.999Z"),
            (&[Weekday::Mon], "22:00", "06:00", "06T05:59:59.999Z", "06T06:00:00Z"),
            (&[Weekday::Mon], "08:00", "08:00", "05T08:00:00Z", "05T07:59:59.999Z"),
            (&[Weekday::Mon], "08:00", "08:00", "06T07:59:59.999Z", "06T08:00:00Z"),
        ] {
            let contains = |day: &str| window(days, from, to, "UTC").contains(at(&format!("2026-01-{day}")));
            assert!(contains(inside), "{from} {to} {inside}");
            assert!(!contains(outside), "{from} {to} {outside}");
        }
    }

    #[test]
    fn days_beyond_the_calendar_are_those_of_utc() {
        // 10^8 days after 1970 is the year 275,760, for which zones have no rules.
        let (start, day) =
            (Millis::DAY * 100_000_000, DayStart::new("17:00", "America/New_York", "risk").unwrap());
        assert_eq!(day.day_bounds(start + Millis::HOUR), (start, start + Millis::DAY));
    }

    #[test]
    fn invalid_times_and_zones_are_rejected_with_their_key() {
        let problem = |start, zone| DayStart::new(start, zone, "risk").unwrap_err().to_string();
        assert!(problem("24:00", "UTC").starts_with("risk.day_start"));
        assert!(problem("00:00", "Mars/Base").starts_with("risk.day_timezone"));
    }

    #[test]
    fn parses_short_and_full_day_names_and_spans() {
        use Weekday::{Fri, Mon, Sat, Sun, Thu, Tue, Wed};
        for (written, expected) in [
            (json!([]), Ok(vec![])),
            (json!(["mon", "wed"]), Ok(vec![Mon, Wed])),
            (json!(["Monday", "TUES"]), Ok(vec![Mon, Tue])),
            (json!(["mon-fri"]), Ok(vec![Mon, Tue, Wed, Thu, Fri])),
            (json!(["fri - mon", "sat"]), Ok(vec![Fri, Sat, Sun, Mon])),
            (json!(["wed-wed"]), Ok(vec![Wed])),
            (json!(["moon"]), Err("\"moon\" is not a weekday; use names such as [\"mon\"")),
            (json!(["m"]), Err("\"m\" is not a weekday")),
            (json!(["mon-"]), Err("\"mon-\" is not a weekday")),
        ] {
            match (read_days(&written), expected) {
                (Ok(days), Ok(expected)) => assert_eq!(days, expected, "{written}"),
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
                (read, _) => panic!("{written}: {read:?}"),
            }
        }
    }
}
