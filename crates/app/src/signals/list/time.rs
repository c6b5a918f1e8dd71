//! Times of day, dates and durations of a list, and recurring times across DST changes.

use super::split::is_number;
use super::zones::zone_label;
use crate::configuration::DateOrder;
use candlewick_sdk::{CloseType, Millis};
use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, TimeDelta, TimeZone as _, Timelike};
use chrono_tz::Tz;

const TIME_FORMATS: [&str; 2] = ["%H:%M", "%H:%M:%S"];
/// Maximum number of days to look ahead for the next occurrence of a time of day: a week, or two if DST skips one.
const SEARCH_DAYS: i64 = 15;
/// Maximum number of years to look ahead for the next 29 February: 8, because 2100 is not a leap year.
const SEARCH_YEARS: i32 = 8;
const MAX_UTC_OFFSET: Millis = Millis::from_seconds(16 * 3_600);
const LEAP_YEAR: i32 = 2_024;
const DATE_ORDERS: [DateOrder; 2] = [DateOrder::DayFirst, DateOrder::MonthFirst];

/// Parses `14:35`, `14:35:00`, `14h35` or `2:35 PM`.
pub(super) fn parse_time_of_day(text: &str) -> Option<NaiveTime> {
    let upper = text.to_ascii_uppercase();
    let (clock, half) = match (upper.strip_suffix("AM"), upper.strip_suffix("PM")) {
        (Some(clock), _) => (clock.trim_end(), Some(0)),
        (None, Some(clock)) => (clock.trim_end(), Some(12)),
        (None, None) => (upper.as_str(), None),
    };
    // The form 10:45h is accepted.
    let clock = clock.strip_suffix('H').filter(|clock| clock.contains(':')).unwrap_or(clock);
    let colon = clock.replacen('H', ":", 1);
    // A time such as 10:5 is rejected, because the cell was probably truncated.
    if colon.split(':').skip(1).any(|part| part.len() != 2) {
        return None;
    }
    let time = TIME_FORMATS.iter().find_map(|form| NaiveTime::parse_from_str(&colon, form).ok())?;
    if is_leap_second(&time) {
        return None;
    }
    let Some(half) = half else { return Some(time) };
    // 12 AM is midnight, 12 PM noon.
    let hour = Some(time.hour()).filter(|hour| (1..=12).contains(hour))?;
    time.with_hour(hour % 12 + half)
}

pub(super) fn is_leap_second(time: &impl Timelike) -> bool {
    time.nanosecond() >= 1_000_000_000
}

/// Converts milliseconds since 1970. Only the years 2001 to 2286 are accepted, which rejects values in seconds.
pub(crate) fn from_unix_millis(ms: i64) -> Option<Millis> {
    (1_000_000_000_000..10_000_000_000_000).contains(&ms).then_some(Millis::new(ms))
}

/// A recurring time of day. A time that DST skips is omitted. A time that DST repeats is used once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecurringTime {
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

    /// Parses `mon-fri`, `mon wed sat` or `Monday`. An empty text means every day.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.to_ascii_lowercase();
        let place = |name: &str| {
            let place = Self::NAMES.iter().position(|full| name.len() >= 3 && full.starts_with(name));
            place.ok_or_else(|| {
                format!(
                    "{name:?} is not a day: use mon, tue, wed, thu, fri, sat or sun, as in mon-fri or mon wed sat"
                )
            })
        };
        let mut bits = 0_u8;
        for part in text.split([' ', ';', '|', ',']).filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (place(first.trim())?, place(last.trim())?);
            for day in first..=first + (last + 7 - first) % 7 {
                bits |= 1 << (day % 7);
            }
        }
        Ok(Self(if bits == 0 { 0x7f } else { bits }))
    }

    fn describe(self) -> String {
        if self.0 == 0x7f {
            return "each day".to_owned();
        }
        let names = Self::NAMES.into_iter().enumerate().filter(|(place, _)| self.0 & (1 << place) != 0);
        names.map(|(_, name)| &name[..3]).collect::<Vec<_>>().join(" ")
    }

    pub(crate) const fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl RecurringTime {
    pub(crate) fn describe(self) -> String {
        let days = match self.date {
            Some((month, day)) => format!("each year on {month:02}-{day:02}"),
            None => self.days.describe(),
        };
        format!("{} {days}, {}", self.time, zone_label(self.zone))
    }

    /// Returns the times in `(from, to]` in ascending order.
    pub(crate) fn times_between(self, from: Millis, to: Millis) -> impl Iterator<Item = Millis> {
        let (first, last) = (utc_date_plus_days(from, -1), utc_date_plus_days(to, 1));
        let days = first.into_iter().flat_map(|day| day.iter_days());
        let days = days.take_while(move |day| last.is_some_and(|last| *day <= last));
        let is_near = move |day: &NaiveDate| {
            let utc = Millis::new(day.and_time(self.time).and_utc().timestamp_millis());
            from - MAX_UTC_OFFSET < utc && utc <= to + MAX_UTC_OFFSET
        };
        let moments = days.filter(is_near).filter_map(move |day| self.moment_on(day));
        moments.filter(move |moment| from < *moment && *moment <= to)
    }

    pub(crate) fn next_after(self, from: Millis) -> Option<Millis> {
        let Some((month, day)) = self.date else {
            return self.times_between(from, from + Millis::DAY * SEARCH_DAYS).next();
        };
        let year = utc_date_plus_days(from, -1)?.year();
        let days = (year..=year + SEARCH_YEARS).filter_map(|year| NaiveDate::from_ymd_opt(year, month, day));
        days.filter_map(|day| self.moment_on(day)).find(|moment| *moment > from)
    }

    fn moment_on(self, day: NaiveDate) -> Option<Millis> {
        let is_its_date = self.date.is_none_or(|date| date == (day.month(), day.day()));
        let is_its_weekday = self.days.0 & (1 << day.weekday().num_days_from_monday()) != 0;
        if !is_its_date || !is_its_weekday {
            return None;
        }
        let moment = self.zone.from_local_datetime(&day.and_time(self.time)).earliest()?;
        Some(Millis::new(moment.timestamp_millis()))
    }
}

fn utc_date_plus_days(moment: Millis, days: i64) -> Option<NaiveDate> {
    let day = DateTime::from_timestamp_millis(moment.get())?.date_naive();
    day.checked_add_signed(TimeDelta::days(days))
}

/// Parses a timeframe such as M5, 5M, 5min or H1. Rejects `5H`, which could also be a time of day, as in `14h`.
pub(crate) fn parse_timeframe(text: &str) -> Option<CloseType> {
    let upper = text.to_ascii_uppercase();
    let minutes = || ["MIN", "M"].iter().find_map(|unit| upper.strip_suffix(unit));
    let (digits, unit, longest) = match upper.strip_prefix('H') {
        Some(digits) => (digits, 3_600, 24),
        None => (upper.strip_prefix('M').or_else(minutes)?, 60, 59),
    };
    let in_range = |count: &i64| is_number(digits) && (1..=longest).contains(count);
    let count = digits.parse().ok().filter(in_range)?;
    CloseType::new(Millis::from_seconds(count * unit)).ok()
}

/// A date in a list. `year` is `None` for a yearly date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListDate {
    pub(crate) year: Option<i32>,
    pub(crate) month: u32,
    pub(crate) day: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnresolvedDate {
    YearFirst(ListDate),
    YearLast { numbers: (u32, u32), year: Option<i32> },
}

impl UnresolvedDate {
    pub(super) fn parse(cell: &str) -> Option<Self> {
        let is_one = |date: &Self| DATE_ORDERS.into_iter().any(|order| date.resolve(order).is_some());
        Self::parse_unchecked(cell).filter(is_one)
    }

    /// Parses a numeric date. Does not check whether the date exists.
    fn parse_unchecked(cell: &str) -> Option<Self> {
        let separator = ['-', '/', '.'].into_iter().find(|separator| cell.contains(*separator))?;
        let parts: Vec<&str> = cell.split(separator).collect();
        let number = |text: &str, most: usize| {
            text.parse::<u32>().ok().filter(|_| is_number(text) && text.len() <= most)
        };
        let year = |text: &str| match text.len() {
            4 => number(text, 4)?.try_into().ok(),
            2 if separator != '-' => Some(2_000 + i32::try_from(number(text, 2)?).ok()?),
            _ => None,
        };
        Some(match parts.as_slice() {
            [first, month, day] if first.len() == 4 => {
                let (month, day) = (number(month, 2)?, number(day, 2)?);
                Self::YearFirst(ListDate { year: Some(year(first)?), month, day })
            }
            [first, second, last] => {
                Self::YearLast { numbers: (number(first, 2)?, number(second, 2)?), year: Some(year(last)?) }
            }
            [first, second] if separator == '/' => {
                Self::YearLast { numbers: (number(first, 2)?, number(second, 2)?), year: None }
            }
            _ => return None,
        })
    }

    pub(super) fn resolve(self, order: DateOrder) -> Option<ListDate> {
        let date = self.with_order(order);
        NaiveDate::from_ymd_opt(date.year.unwrap_or(LEAP_YEAR), date.month, date.day).map(|_| date)
    }

    const fn with_order(self, order: DateOrder) -> ListDate {
        match (self, order) {
            (Self::YearFirst(date), _) => date,
            (Self::YearLast { numbers: (day, month), year }, DateOrder::DayFirst)
            | (Self::YearLast { numbers: (month, day), year }, DateOrder::MonthFirst) => {
                ListDate { year, month, day }
            }
        }
    }

    pub(super) const fn has_year(self) -> bool {
        matches!(self, Self::YearFirst(_) | Self::YearLast { year: Some(_), .. })
    }
}

pub(super) fn describe_invalid_date(cell: &str) -> Option<String> {
    let written = UnresolvedDate::parse_unchecked(cell)?;
    let mut months = DATE_ORDERS.into_iter().map(|order| written.with_order(order));
    let of_month = months.find_map(|date| {
        let first = NaiveDate::from_ymd_opt(date.year.unwrap_or(LEAP_YEAR), date.month, 1)?;
        let is_february = date.month == 2 && date.year.is_some();
        let month = first.format(if is_february { "%B %Y" } else { "%B" });
        Some(format!("{month} has {} days", first.num_days_in_month()))
    });
    Some(of_month.unwrap_or_else(|| "the month must be 1 to 12".to_owned()))
}

/// Returns `set`, or else the order implied by the dates. `None` if both orders give the same dates.
pub(super) fn infer_date_order(
    dates: &[(u64, UnresolvedDate)],
    set: Option<DateOrder>,
) -> Result<Option<DateOrder>, String> {
    let [day_first, month_first] = DATE_ORDERS;
    let mut open = dates.iter().filter(|(_, date)| date.resolve(day_first) != date.resolve(month_first));
    let first_only_in = |order: DateOrder| {
        let other = order.opposite();
        let is_it = |date: UnresolvedDate| date.resolve(order).is_some() && date.resolve(other).is_none();
        dates.iter().find(|(_, date)| is_it(*date)).map(|(line, _)| *line)
    };
    let (day, month) = (first_only_in(DateOrder::DayFirst), first_only_in(DateOrder::MonthFirst));
    match (set, day, month) {
        (Some(order), _, _) => match if order == DateOrder::DayFirst { month } else { day } {
            None => Ok(Some(order)),
            Some(line) => {
                Err(format!("line {line}: invalid date if read {} (signals.dates)", order.describe()))
            }
        },
        (None, Some(line), Some(other)) => Err(format!(
            "line {other}: the date has the month first, but line {line} has the day first: write dates as 2026-11-27"
        )),
        (None, Some(_), None) => Ok(Some(DateOrder::DayFirst)),
        (None, None, Some(_)) => Ok(Some(DateOrder::MonthFirst)),
        (None, None, None) => match open.next() {
            None => Ok(None),
            Some((line, date)) => Err(format!(
                "line {line}: the date may be {} or {}, and no other date shows the order: write dates as 2026-11-27, or set \
                 signals.dates = \"day_first\" or \"month_first\"",
                format_date(date.resolve(DateOrder::DayFirst)),
                format_date(date.resolve(DateOrder::MonthFirst))
            )),
        },
    }
}

fn format_date(date: Option<ListDate>) -> String {
    let date = date.and_then(|date| NaiveDate::from_ymd_opt(LEAP_YEAR, date.month, date.day));
    date.map_or_else(|| "none".to_owned(), |date| date.format("%-d %B").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sandbox::parse_time;

    fn clock_time(time: &str, zone: &str, days: &str) -> RecurringTime {
        let time = NaiveTime::parse_from_str(time, "%H:%M").unwrap();
        RecurringTime { time, zone: zone.parse().unwrap(), days: WeekDays::parse(days).unwrap(), date: None }
    }

    /// Checks the times within a range, in UTC. Expected values are from `date -u -d 'TZ="..." ...'`.
    fn check((time, zone, days): (&str, &str, &str), (from, to): (&str, &str), expected: &[&str]) {
        let moment = |text: &str| parse_time(text).unwrap();
        let moments = clock_time(time, zone, days).times_between(moment(from), moment(to));
        let expected: Vec<Millis> = expected.iter().map(|text| moment(text)).collect();
        assert_eq!(moments.collect::<Vec<_>>(), expected, "{time} {zone} {days}");
    }

    #[test]
    fn parses_common_notations_of_times() {
        for (text, expected) in [
            ("14:35", "14:35:00"),
            ("9:05:07", "09:05:07"),
            ("14h35", "14:35:00"),
            ("9H05", "09:05:00"),
            ("10:45h", "10:45:00"),
            ("2:35 PM", "14:35:00"),
            ("2:35pm", "14:35:00"),
            ("12:00 AM", "00:00:00"),
            ("12:30 pm", "12:30:00"),
            ("11:59:30 AM", "11:59:30"),
        ] {
            assert_eq!(parse_time_of_day(text).unwrap().format("%H:%M:%S").to_string(), expected, "{text:?}");
        }
        let others = "14:35 PM|0:10 AM|24:00|23:59:60|11:59:60 PM|14h|10:5|10:05:7|14h5|H1|h24|14.35|PM|";
        for text in others.split('|') {
            assert_eq!(parse_time_of_day(text), None, "{text:?}");
        }
    }

    #[test]
    fn clock_change_skips_a_time_or_uses_the_first() {
        // 2026-03-29: 02:00 becomes 03:00 in Berlin.
        let span = ("2026-03-27T12:00", "2026-03-31T12:00");
        let all = ["2026-03-28T01:30", "2026-03-30T00:30", "2026-03-31T00:30"];
        check(("02:30", "Europe/Berlin", ""), span, &all);
        // Lord Howe Island sets clocks back by half an hour, from 02:00 to 01:30, on 2026-04-05.
        let span = ("2026-04-04T12:00", "2026-04-05T12:00");
        check(("01:45", "Australia/Lord_Howe", ""), span, &["2026-04-04T14:45"]);
    }

    #[test]
    fn date_without_year_recurs_yearly() {
        let moment = |text: &str| parse_time(text).unwrap();
        let daily = clock_time("10:00", "America/Sao_Paulo", "");
        let of = |month, day| RecurringTime { date: Some((month, day)), ..daily };
        // Sao Paulo is 3 h behind UTC since 2019.
        let all: Vec<Millis> =
            of(11, 27).times_between(moment("2026-01-01T00:00"), moment("2028-01-01T00:00")).collect();
        assert_eq!(all, [moment("2026-11-27T13:00"), moment("2027-11-27T13:00")]);
        assert_eq!(of(11, 27).next_after(all[0]), Some(all[1]));
        assert_eq!(of(11, 27).next_after(all[0] - Millis::new(1)), Some(all[0]));
        assert_eq!(of(2, 29).next_after(moment("2026-01-01T00:00")), Some(moment("2028-02-29T13:00")));
        assert_eq!(of(2, 29).next_after(moment("2096-03-01T00:00")), Some(moment("2104-02-29T13:00")));
    }

    #[test]
    fn weekdays_follow_the_zone_and_ranges_exclude_their_start() {
        // 2026-01-04 is a Sunday.
        let span = ("2026-01-03T00:00", "2026-01-06T00:00");
        check(("23:30", "America/New_York", "sun"), span, &["2026-01-05T04:30"]);
        check(("08:00", "UTC", "mon-fri"), span, &["2026-01-05T08:00"]);
        let all = ["2026-01-03T08:00", "2026-01-04T08:00", "2026-01-05T08:00"];
        check(("08:00", "UTC", "sat-mon"), span, &all);
        check(("08:00", "UTC", "SUN; tue"), span, &["2026-01-04T08:00"]);
        check(("08:00", "UTC", ""), ("2026-01-05T08:00", "2026-01-06T08:00"), &["2026-01-06T08:00"]);
        // Time zones can omit a day: Samoa skipped 2011-12-30.
        let span = ("2011-12-29T00:00", "2012-01-01T00:00");
        let all = ["2011-12-29T22:00", "2011-12-30T22:00", "2011-12-31T22:00"];
        check(("12:00", "Pacific/Apia", ""), span, &all);
        assert!(WeekDays::parse("mon-").is_err() && WeekDays::parse("mo").is_err());
        assert_eq!(WeekDays::parse("Monday tues fri-Sunday").unwrap().describe(), "mon tue fri sat sun");
        let sunday = clock_time("08:00", "UTC", "sun");
        let next = sunday.next_after(parse_time("2026-01-04T08:00").unwrap());
        assert_eq!(next, parse_time("2026-01-11T08:00"));
    }

    #[test]
    fn parses_common_notations_of_durations() {
        let minutes = |text| parse_timeframe(text).map(|found| found.duration().get() / 60_000);
        for (text, expected) in
            [("M5", 5), ("5M", 5), ("5m", 5), ("15min", 15), ("H1", 60), ("h24", 1_440), ("M59", 59)]
        {
            assert_eq!(minutes(text), Some(expected), "{text:?}");
        }
        for text in "60M|0min|1H|14h|H25|M5M|+5M|5|M|MIN|".split('|') {
            assert_eq!(minutes(text), None, "{text:?}");
        }
    }

    #[test]
    fn parses_common_notations_of_dates() {
        let of = |year, month, day| Some(ListDate { year, month, day });
        for (cell, day_first, month_first) in [
            ("2026-11-27", of(Some(2_026), 11, 27), of(Some(2_026), 11, 27)),
            ("2026/11/27", of(Some(2_026), 11, 27), of(Some(2_026), 11, 27)),
            ("27/11/2026", of(Some(2_026), 11, 27), None),
            ("27.11.26", of(Some(2_026), 11, 27), None),
            ("27-11-2026", of(Some(2_026), 11, 27), None),
            ("11/27", None, of(None, 11, 27)),
            ("5/1", of(None, 1, 5), of(None, 5, 1)),
            ("29/02", of(None, 2, 29), None),
        ] {
            let date = UnresolvedDate::parse(cell).unwrap();
            let found = (date.resolve(DateOrder::DayFirst), date.resolve(DateOrder::MonthFirst));
            assert_eq!(found, (day_first, month_first), "{cell}");
        }
        for cell in "29/02/2026|31/04|00/04|10.30|10:30|+5/01|2026-11-27-1|1/2/3/4|/|M5".split('|') {
            assert_eq!(UnresolvedDate::parse(cell), None, "{cell}");
        }
    }
}
