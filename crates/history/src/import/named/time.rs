//! Time formats: Unix times, or dates with an optional time of day and zone.

use super::super::row::{Clock, Problem};
use super::settings::DateOrder;
use crate::csv::excerpt;
use candlewick_sdk::Millis;
use chrono::NaiveDate;

#[derive(Debug, Default)]
pub(super) struct TimeSurvey {
    first: Option<ParsedTime>,
    day_first: Option<String>,
    month_first: Option<String>,
    either: Option<String>,
    unread: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeStyle {
    Epoch(EpochUnit),
    Calendar { order: DateOrder, unordered: bool, zone: ZonePresence, clock: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EpochUnit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ZonePresence {
    Written,
    Absent,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ParsedTime {
    Epoch { whole: i64, fraction_ns: i64 },
    Calendar { date: Date, time_of_day: Option<Millis>, offset: Option<Millis> },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Date {
    Ordered(NaiveDate),
    Either(u32, u32, i32),
}

impl TimeSurvey {
    pub(super) fn add(&mut self, text: &str) {
        let Some(written) = parse_time(text) else {
            self.unread.get_or_insert_with(|| text.to_owned());
            return;
        };
        self.first.get_or_insert(written);
        if let ParsedTime::Calendar { date: Date::Either(a, b, _), .. } = written {
            let place = match (a > 12, b > 12) {
                (true, false) => &mut self.day_first,
                (false, true) => &mut self.month_first,
                _ if a == b => return,
                _ => &mut self.either,
            };
            place.get_or_insert_with(|| text.to_owned());
        }
    }
}

impl TimeStyle {
    pub(super) fn detect(seen: &TimeSurvey, given: Option<DateOrder>) -> Result<Self, Problem> {
        let Some(first) = seen.first else {
            let text = seen.unread.as_deref().unwrap_or_default();
            let problem = format!(
                "no time is valid; the first value is \"{}\". Times must be Unix times (1990 to 2039) or dates such as 2024-01-31 17:00 \
                 or 31/01/2024 17:00:00, with or without a zone (Z, +02:00). Format day numbers of a spreadsheet (45293.9) as dates and save \
                 again. If another column contains the times, specify it with --columns",
                excerpt(text.as_bytes())
            );
            return Err(Problem::File(problem));
        };
        let (date, time_of_day, offset) = match first {
            ParsedTime::Epoch { whole, .. } => return Ok(Self::Epoch(EpochUnit::detect(whole))),
            ParsedTime::Calendar { date, time_of_day, offset } => (date, time_of_day, offset),
        };
        let unclear = |seen: String| {
            Err(Problem::ambiguous(seen, "--date-order day-first or --date-order month-first"))
        };
        let order = match (given, &seen.day_first, &seen.month_first, &seen.either) {
            (Some(order), ..) => order,
            (None, Some(day), Some(month), _) => {
                return unclear(format!("{day} begins with the day, but {month} begins with the month"));
            }
            (None, None, Some(_), _) => DateOrder::MonthFirst,
            (None, None, None, Some(date)) => {
                return unclear(format!("it is unclear whether {date} begins with the day or the month"));
            }
            (None, _, None, _) => DateOrder::DayFirst,
        };
        let zone = if offset.is_some() { ZonePresence::Written } else { ZonePresence::Absent };
        let unordered = matches!(date, Date::Either(..));
        Ok(Self::Calendar { order, unordered, zone, clock: time_of_day.is_some() })
    }

    pub(super) const fn clock(self) -> Clock {
        match self {
            Self::Epoch(_) | Self::Calendar { zone: ZonePresence::Written, .. } => Clock::Utc,
            Self::Calendar { clock: true, .. } => Clock::Wall,
            Self::Calendar { clock: false, .. } => Clock::Day,
        }
    }

    pub(super) fn parse(self, text: &str) -> Result<Millis, String> {
        let shown = || excerpt(text.as_bytes());
        match (self, parse_time(text)) {
            (Self::Epoch(unit), Some(ParsedTime::Epoch { whole, fraction_ns }))
                if unit == EpochUnit::detect(whole) =>
            {
                unit.to_millis(whole, fraction_ns)
                    .ok_or_else(|| format!("time {} is not a whole number of milliseconds", shown()))
            }
            (
                Self::Calendar { order, zone, clock, .. },
                Some(ParsedTime::Calendar { date, time_of_day, offset }),
            ) if (zone == ZonePresence::Written) == offset.is_some() && clock == time_of_day.is_some() => {
                let day =
                    date.to_date(order).ok_or_else(|| format!("time \"{}\" has an invalid date", shown()))?;
                let midnight =
                    Millis::new(day.and_hms_opt(0, 0, 0).unwrap_or_default().and_utc().timestamp_millis());
                Ok(midnight + time_of_day.unwrap_or(Millis::ZERO) - offset.unwrap_or(Millis::ZERO))
            }
            (_, Some(_)) => Err(format!("time \"{}\" is not in the same format as the first one", shown())),
            (_, None) => Err(format!("time \"{}\" cannot be read", shown())),
        }
    }

    pub(super) const fn describe(self) -> &'static str {
        match self {
            Self::Epoch(EpochUnit::Seconds) => "seconds since 1970",
            Self::Epoch(EpochUnit::Milliseconds) => "milliseconds since 1970",
            Self::Epoch(EpochUnit::Microseconds) => "microseconds since 1970",
            Self::Epoch(EpochUnit::Nanoseconds) => "nanoseconds since 1970",
            Self::Calendar { unordered: true, order: DateOrder::DayFirst, .. } => "day first",
            Self::Calendar { unordered: true, order: DateOrder::MonthFirst, .. } => "month first",
            Self::Calendar { zone: ZonePresence::Written, .. } => "with a zone",
            Self::Calendar { clock: true, .. } => "without a zone",
            Self::Calendar { clock: false, .. } => "date only",
        }
    }
}

impl EpochUnit {
    /// Detects the unit from the size of `count`. 100,000,000,000 s is in the year 5138, but as many ms are in 1973.
    const fn detect(count: i64) -> Self {
        match count.unsigned_abs() {
            0..100_000_000_000 => Self::Seconds,
            100_000_000_000..100_000_000_000_000 => Self::Milliseconds,
            100_000_000_000_000..100_000_000_000_000_000 => Self::Microseconds,
            _ => Self::Nanoseconds,
        }
    }

    fn to_millis(self, whole: i64, fraction_ns: i64) -> Option<Millis> {
        let per_ms = match self {
            Self::Seconds if fraction_ns % 1_000_000 == 0 => {
                return Some(Millis::new(whole.checked_mul(1_000)? + fraction_ns / 1_000_000));
            }
            Self::Milliseconds => 1,
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1_000_000,
            Self::Seconds => return None,
        };
        (fraction_ns == 0 && whole % per_ms == 0).then(|| Millis::new(whole / per_ms))
    }
}

impl Date {
    fn to_date(self, order: DateOrder) -> Option<NaiveDate> {
        match (self, order) {
            (Self::Ordered(date), _) => Some(date),
            (Self::Either(day, month, year), DateOrder::DayFirst)
            | (Self::Either(month, day, year), DateOrder::MonthFirst) => {
                NaiveDate::from_ymd_opt(year, month, day)
            }
        }
    }
}

pub(super) fn is_time(text: &str) -> bool {
    parse_time(text).is_some()
}

pub(super) fn is_day(text: &str) -> bool {
    matches!(parse_time(text), Some(ParsedTime::Calendar { time_of_day: None, .. }))
}

pub(super) fn is_day_and_clock(text: &str) -> bool {
    matches!(parse_time(text), Some(ParsedTime::Calendar { time_of_day: Some(_), .. }))
}

fn parse_time(text: &str) -> Option<ParsedTime> {
    let text = text.trim();
    parse_epoch(text).or_else(|| {
        let mut scanner = Scanner(text);
        let date = scanner.date()?;
        if scanner.0.is_empty() {
            return Some(ParsedTime::Calendar { date, time_of_day: None, offset: None });
        }
        let time_of_day = scanner.time_of_day()?;
        let offset = scanner.offset()?;
        Some(ParsedTime::Calendar { date, time_of_day: Some(time_of_day), offset })
    })
}

/// Plausible times, 1990 to 2039. Row numbers, spreadsheet days and dates such as 20240131 are not in this range.
const PLAUSIBLE_TIMES: std::ops::Range<Millis> = Millis::new(631_152_000_000)..Millis::new(2_208_988_800_000);

fn parse_epoch(text: &str) -> Option<ParsedTime> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(decimals) || decimals.len() > 9 {
        return None;
    }
    let fraction_ns = format!("{decimals:0<9}").parse().ok()?;
    let whole = whole.parse().ok()?;
    let moment = EpochUnit::detect(whole).to_millis(whole, 0).unwrap_or(Millis::ZERO);
    PLAUSIBLE_TIMES.contains(&moment).then_some(ParsedTime::Epoch { whole, fraction_ns })
}

struct Scanner<'a>(&'a str);

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

impl Scanner<'_> {
    fn digits(&mut self, max_digits: usize) -> Option<(u32, usize)> {
        let count = self.0.bytes().take(max_digits).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at_checked(count)?;
        let number = digits.parse().ok()?;
        self.0 = rest;
        Some((number, count))
    }

    fn exact_digits(&mut self, count: usize) -> Option<u32> {
        self.digits(count).and_then(|(number, found)| (found == count).then_some(number))
    }

    fn skip(&mut self, characters: &[char]) -> bool {
        let rest = self.0.trim_start_matches(characters);
        let has_skipped = rest.len() < self.0.len();
        self.0 = rest;
        has_skipped
    }

    fn take_char(&mut self, characters: &[char]) -> Option<char> {
        let mark = self.0.chars().next().filter(|first| characters.contains(first))?;
        self.0 = &self.0[mark.len_utf8()..];
        Some(mark)
    }

    fn month(&mut self) -> Option<u32> {
        let length = self.0.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, rest) = self.0.split_at_checked(length)?;
        let short = name.get(..3)?.to_ascii_lowercase();
        let month = MONTHS.iter().position(|month| *month == short)?;
        self.0 = rest;
        u32::try_from(month + 1).ok()
    }

    /// Parses a date such as `2024-01-31`, `31/01/2024`, `31-Jan-2024`, `Jan 31, 2024` or `20240131`.
    fn date(&mut self) -> Option<Date> {
        const SEPARATORS: [char; 3] = ['-', '/', '.'];
        if let Some(month) = self.month() {
            self.skip(&[' ', '.']);
            let (day, _) = self.digits(2)?;
            self.skip(&[' ', ',']);
            let year = self.exact_digits(4)?;
            return new_date(year, month, day);
        }
        let all = self.0.bytes().take_while(u8::is_ascii_digit).count();
        if [8, 12, 14].contains(&all) {
            let (year, month, day) = (self.exact_digits(4)?, self.exact_digits(2)?, self.exact_digits(2)?);
            return new_date(year, month, day);
        }
        let (first, length) = self.digits(4)?;
        let mark = self.take_char(&SEPARATORS).or_else(|| self.take_char(&[' ']))?;
        if length == 4 {
            let (month, _) = self.digits(2)?;
            self.take_char(&[mark])?;
            let (day, _) = self.digits(2)?;
            return new_date(first, month, day);
        }
        if length > 2 {
            return None;
        }
        if let Some(month) = self.month() {
            self.take_char(&[mark])?;
            let year = self.exact_digits(4)?;
            return new_date(year, month, first);
        }
        let (second, _) = self.digits(2)?;
        self.take_char(&[mark])?;
        let year = i32::try_from(self.exact_digits(4)?).ok()?;
        let either = Date::Either(first, second, year);
        let is_day = |order| either.to_date(order).is_some();
        (is_day(DateOrder::DayFirst) || is_day(DateOrder::MonthFirst)).then_some(either)
    }

    /// Parses a time of day such as `17:00`, `17:00:00.250`, `170000` or `5:00 PM`.
    fn time_of_day(&mut self) -> Option<Millis> {
        self.skip(&['T', 't', ' ', ',']);
        let all = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (mut hour, minute, second) = if all == 6 || all == 4 {
            let (hour, minute) = (self.exact_digits(2)?, self.exact_digits(2)?);
            (hour, minute, if all == 6 { self.exact_digits(2)? } else { 0 })
        } else {
            let (hour, _) = self.digits(2)?;
            self.take_char(&[':'])?;
            let minute = self.exact_digits(2)?;
            let second = if self.take_char(&[':']).is_some() { self.exact_digits(2)? } else { 0 };
            (hour, minute, second)
        };
        let mut thousandths = 0;
        if self.take_char(&['.', ',']).is_some() {
            let (number, count) = self.digits(9)?;
            let nanoseconds = u64::from(number) * 10_u64.pow(u32::try_from(9 - count).ok()?);
            if nanoseconds % 1_000_000 != 0 {
                return None;
            }
            thousandths = i64::try_from(nanoseconds / 1_000_000).ok()?;
        }
        self.skip(&[' ']);
        let half = self.0.get(..2).map(str::to_ascii_uppercase);
        if let Some(half @ ("AM" | "PM")) = half.as_deref() {
            if !(1..=12).contains(&hour) {
                return None;
            }
            hour = hour % 12 + if half == "PM" { 12 } else { 0 };
            self.0 = self.0[2..].trim_start();
        }
        let is_time = hour < 24 && minute < 60 && second < 60;
        let [hours, minutes, seconds] = [hour, minute, second].map(i64::from);
        is_time.then(|| {
            Millis::HOUR * hours
                + Millis::MINUTE * minutes
                + Millis::SECOND * seconds
                + Millis::new(thousandths)
        })
    }

    /// Parses an optional UTC offset such as `Z`, `UTC`, `GMT+0200` or `-05:00`.
    #[expect(clippy::option_option, reason = "an absent zone differs from an unreadable one")]
    fn offset(&mut self) -> Option<Option<Millis>> {
        if self.0.is_empty() {
            return Some(None);
        }
        let names = ["utc", "gmt", "z"];
        let is_named = names
            .into_iter()
            .find(|name| self.0.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
        if let Some(name) = is_named {
            self.0 = self.0[name.len()..].trim_start();
            if self.0.is_empty() {
                return Some(Some(Millis::ZERO));
            }
        }
        let sign = if self.take_char(&['+', '-'])? == '+' { 1 } else { -1 };
        let hours = self.exact_digits(2)?;
        let colon = self.take_char(&[':']).is_some();
        let minutes = if self.0.is_empty() && !colon { 0 } else { self.exact_digits(2)? };
        let is_offset = self.0.is_empty() && hours <= 14 && minutes < 60;
        let distance = Millis::HOUR * i64::from(hours) + Millis::MINUTE * i64::from(minutes);
        is_offset.then(|| Some(distance * sign))
    }
}

fn new_date(year: u32, month: u32, day: u32) -> Option<Date> {
    NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day).map(Date::Ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-01-31 17:00:00 UTC.
    const MOMENT: i64 = 1_706_720_400_000;

    fn read(texts: &[&str], given: Option<DateOrder>) -> Result<(Vec<i64>, Clock), String> {
        let mut seen = TimeSurvey::default();
        for text in texts {
            seen.add(text);
        }
        let style = TimeStyle::detect(&seen, given).map_err(|problem| format!("{problem:?}"))?;
        let read = texts.iter().map(|text| style.parse(text).map(Millis::get));
        Ok((read.collect::<Result<_, _>>()?, style.clock()))
    }

    #[test]
    fn parses_all_spellings_of_one_time() {
        let utc = "1706720400|1706720400.0|1706720400000|1706720400000000|1706720400000000000|2024-01-31T17:00:00Z|\
                   2024-01-31 17:00:00+00:00|2024-01-31T19:00:00.000+02:00|2024-01-31 12:00:00-0500|\
                   31.01.2024 19:00:00.000 GMT+0200|2024-01-31 17:00 UTC";
        let wall = "2024-01-31 17:00|2024/1/31 17:00:00|2024.01.31 17:00|20240131 170000|20240131170000|202401311700|\
                    31/01/2024 17:00|01/31/2024 5:00 PM|31-Jan-2024 17:00:00|Jan 31, 2024 5:00:00 PM";
        for (texts, clock) in [(utc, Clock::Utc), (wall, Clock::Wall)] {
            for text in texts.split('|') {
                assert_eq!(read(&[text], None), Ok((vec![MOMENT], clock)), "{text}");
            }
        }
        for text in ["2024-01-31", "31.01.2024", "1/31/2024", "20240131", "Jan 31, 2024", "31 January 2024"] {
            assert_eq!(read(&[text], None), Ok((vec![MOMENT - 17 * 3_600_000], Clock::Day)), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_times_and_mixed_formats() {
        let none = "|x|2024-02-30|31/13/2024|32/01/2024|31/01/24|2024-01-31 24:00|2024-01-31 17:60|2024-01-31 13:00 PM|\
                    2024-01-31 17:00:00.0001|2024-01-31 17:00 Mars|2024-01-31 17:00+2|0|45322|2401311700|200000000|1e9";
        for text in none.split('|') {
            assert!(read(&[text], None).is_err(), "{text}");
        }
        for later in ["2024-01-31", "2024-01-31 17:00Z", "1706720400"] {
            let error = read(&["2024-01-30 17:00", later], None).unwrap_err();
            assert!(error.contains("not in the same format"), "{error}");
        }
        assert!(read(&["1706720400", "1706720400000"], None).unwrap_err().contains("not in the same format"));
    }

    #[test]
    fn date_order_comes_from_one_clear_date_or_the_option() {
        let day = 86_400_000;
        let first = 1_704_153_600_000; // 2024-01-02
        assert_eq!(read(&["02/01/2024", "13/01/2024"], None).unwrap().0, [first, first + 11 * day]);
        assert_eq!(read(&["01/02/2024", "01/13/2024"], None).unwrap().0, [first, first + 11 * day]);
        assert!(read(&["01/02/2024", "03/04/2024"], None).unwrap_err().contains("--date-order"));
        assert!(read(&["13/02/2024", "02/13/2024"], None).unwrap_err().contains("--date-order"));
        assert_eq!(read(&["02/01/2024"], Some(DateOrder::DayFirst)).unwrap().0, [first]);
        assert_eq!(read(&["01/02/2024"], Some(DateOrder::MonthFirst)).unwrap().0, [first]);
    }
}
