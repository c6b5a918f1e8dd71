//! Market hours, which distinguish a closed market from a data gap.

use crate::import::Zone;
use crate::{AssetType, expected_asset_type};
use candlewick_sdk::{Millis, Symbol};
use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Weekday};
use chrono_tz::America::New_York;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarketHours {
    Always,
    /// Trading week of forex markets, from Sunday 22:00 UTC to Friday 17:00 New York time.
    Currencies,
    Weekly(WeeklyHours),
}

/// Trading hours per weekday, such as `Mon-Fri 09:30-16:00 America/New_York`. A session may end on the next day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeeklyHours {
    first: Weekday,
    last: Weekday,
    from: NaiveTime,
    to: NaiveTime,
    zone: Zone,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" is not a session: use always, currencies, or a weekly schedule such as \"Mon-Fri 09:30-16:00 America/New_York\""
)]
pub struct ParseMarketHoursError {
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UncertainHours {
    /// Uncertain hours count as closed, so candles are not required.
    Closed,
    /// Uncertain hours count as open, so candles are allowed.
    Open,
}

impl MarketHours {
    pub fn from_symbol(symbol: Symbol) -> Self {
        Self::from_asset_type(expected_asset_type(symbol))
    }

    pub const fn from_asset_type(kind: AssetType) -> Self {
        match kind {
            AssetType::Forex => Self::Currencies,
            AssetType::Crypto | AssetType::Otc => Self::Always,
        }
    }

    /// Returns the open periods in ascending order. No period begins on a holiday.
    /// A forex holiday is a UTC day or a New York day, so only midnight UTC to 17:00 New York time is certainly closed.
    pub(super) fn open_periods(
        &self,
        within: &Range<Millis>,
        doubt: UncertainHours,
        holidays: &[NaiveDate],
    ) -> Vec<Range<Millis>> {
        if *self == Self::Always && holidays.is_empty() {
            return vec![within.clone()];
        }
        let mut found: Vec<Range<Millis>> = Vec::new();
        // A local day begins up to a day before or after the UTC day. A session may extend into the next day.
        let mut day = utc_date(within.start).checked_sub_days(Days::new(2));
        let last = utc_date(within.end).checked_add_days(Days::new(1)).unwrap_or(NaiveDate::MAX);
        while let Some(date) = day.filter(|date| *date <= last) {
            day = date.succ_opt();
            let is_closed = *self != Self::Currencies && holidays.contains(&date);
            let Some(open) = self.session_on(date, doubt).filter(|_| !is_closed) else {
                continue;
            };
            let (start, end) = (open.start.max(within.start), open.end.min(within.end));
            match found.last_mut() {
                Some(before) if start <= before.end => before.end = before.end.max(end),
                _ if start < end => found.push(start..end),
                _ => {}
            }
        }
        if *self == Self::Currencies {
            for date in holidays {
                found = subtract_period(&found, &holiday_period(*date, doubt));
            }
        }
        found
    }

    fn session_on(&self, date: NaiveDate, doubt: UncertainHours) -> Option<Range<Millis>> {
        let utc = |hour: u32| millis(date.and_time(NaiveTime::MIN)) + Millis::HOUR * i64::from(hour);
        let new_york = || new_york_close(date);
        match self {
            Self::Always => Some(utc(0)..utc(24)),
            Self::Currencies => match date.weekday() {
                Weekday::Sat => None,
                Weekday::Sun => Some(
                    if doubt == UncertainHours::Open { utc(22).min(new_york()) } else { utc(22) }..utc(24),
                ),
                Weekday::Fri => {
                    Some(utc(0)..if doubt == UncertainHours::Open { utc(22) } else { new_york() })
                }
                Weekday::Mon | Weekday::Tue | Weekday::Wed | Weekday::Thu => Some(utc(0)..utc(24)),
            },
            Self::Weekly(hours) => hours.session_on(date),
        }
    }
}

fn new_york_close(date: NaiveDate) -> Millis {
    let wall = date.and_hms_opt(17, 0, 0).expect("17:00 is a valid time");
    Zone::Place(New_York).wall_to_utc(wall)
}

fn holiday_period(date: NaiveDate, doubt: UncertainHours) -> Range<Millis> {
    let midnight = millis(date.and_time(NaiveTime::MIN));
    match doubt {
        UncertainHours::Open => midnight..new_york_close(date),
        UncertainHours::Closed => {
            let before = date.pred_opt().map_or(midnight, new_york_close);
            before..midnight + Millis::DAY
        }
    }
}

fn subtract_period(open: &[Range<Millis>], closed: &Range<Millis>) -> Vec<Range<Millis>> {
    let parts = open.iter().flat_map(|stretch| {
        [stretch.start..stretch.end.min(closed.start), stretch.start.max(closed.end)..stretch.end]
    });
    parts.filter(|part| part.start < part.end).collect()
}

impl WeeklyHours {
    fn session_on(&self, date: NaiveDate) -> Option<Range<Millis>> {
        let place = |day: Weekday| (day.days_since(self.first)) % 7;
        if place(date.weekday()) > place(self.last) {
            return None;
        }
        let end = if self.to > self.from { date } else { date.succ_opt()? };
        Some(self.zone.wall_to_utc(date.and_time(self.from))..self.zone.wall_to_utc(end.and_time(self.to)))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (days, hours, zone) = (words.next()?, words.next()?, words.next()?);
        let (first, last) = days.split_once('-').unwrap_or((days, days));
        let (from, to) = hours.split_once('-')?;
        let time = |text| NaiveTime::parse_from_str(text, "%H:%M").ok();
        let hours = Self {
            first: first.parse().ok()?,
            last: last.parse().ok()?,
            from: time(from)?,
            to: if to == "24:00" { NaiveTime::MIN } else { time(to)? },
            zone: zone.parse().ok()?,
        };
        words.next().is_none().then_some(hours)
    }
}

fn millis(utc: NaiveDateTime) -> Millis {
    Millis::new(utc.and_utc().timestamp_millis())
}

fn utc_date(moment: Millis) -> NaiveDate {
    DateTime::from_timestamp_millis(moment.get()).map_or(NaiveDate::MAX, |time| time.date_naive())
}

impl Zone {
    /// Converts local time to UTC. Picks the earlier of two possible times, and moves a skipped time one hour ahead.
    fn wall_to_utc(self, wall: NaiveDateTime) -> Millis {
        let later = wall.checked_add_signed(TimeDelta::hours(1)).unwrap_or(wall);
        let shown = self.local_to_utc(wall).earliest();
        shown.or_else(|| self.local_to_utc(later).earliest()).unwrap_or_else(|| millis(wall))
    }
}

impl fmt::Display for MarketHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.pad("always"),
            Self::Currencies => f.pad("currencies"),
            Self::Weekly(WeeklyHours { first, last, from, to, zone }) => {
                let (from, to) = (from.format("%H:%M"), to.format("%H:%M"));
                let days = if first == last { first.to_string() } else { format!("{first}-{last}") };
                write!(f, "{days} {from}-{to} {zone}")
            }
        }
    }
}

impl FromStr for MarketHours {
    type Err = ParseMarketHoursError;

    fn from_str(text: &str) -> Result<Self, ParseMarketHoursError> {
        match text {
            "always" => Ok(Self::Always),
            "currencies" => Ok(Self::Currencies),
            _ => {
                let hours = WeeklyHours::parse(text).map(Self::Weekly);
                hours.ok_or_else(|| ParseMarketHoursError { text: text.chars().take(64).collect() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Millis {
        millis(NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").unwrap())
    }

    fn check(session: &str, doubt: UncertainHours, within: [&str; 2], expected: &[[&str; 2]]) {
        let session: MarketHours = session.parse().unwrap();
        let found = session.open_periods(&(at(within[0])..at(within[1])), doubt, &[]);
        let expected: Vec<_> = expected.iter().map(|[start, end]| at(start)..at(end)).collect();
        assert_eq!(found, expected, "{session}");
    }

    #[test]
    fn forex_closes_at_weekends_and_the_summer_time_hour_is_doubtful() {
        let winter = ["2026-01-08 00:00", "2026-01-12 06:00"];
        let expected = [["2026-01-08 00:00", "2026-01-09 22:00"], ["2026-01-11 22:00", "2026-01-12 06:00"]];
        check("currencies", UncertainHours::Closed, winter, &expected);
        check("currencies", UncertainHours::Open, winter, &expected);
        let summer = ["2026-07-10 12:00", "2026-07-13 06:00"];
        let sure = [["2026-07-10 12:00", "2026-07-10 21:00"], ["2026-07-12 22:00", "2026-07-13 06:00"]];
        check("currencies", UncertainHours::Closed, summer, &sure);
        let possible = [["2026-07-10 12:00", "2026-07-10 22:00"], ["2026-07-12 21:00", "2026-07-13 06:00"]];
        check("currencies", UncertainHours::Open, summer, &possible);
    }

    #[test]
    fn applies_time_zone_and_hours_past_midnight() {
        // New York is five hours behind UTC in winter. Daylight saving time begins on 2026-03-08.
        let monday = ["2026-03-06 00:00", "2026-03-10 00:00"];
        let stocks = [["2026-03-06 14:30", "2026-03-06 21:00"], ["2026-03-09 13:30", "2026-03-09 20:00"]];
        check("Mon-Fri 09:30-16:00 America/New_York", UncertainHours::Closed, monday, &stocks);
        let futures = [["2026-03-06 00:00", "2026-03-06 22:00"], ["2026-03-08 22:00", "2026-03-09 21:00"]];
        let upto = ["2026-03-06 00:00", "2026-03-09 22:00"];
        check("Sun-Thu 18:00-17:00 America/New_York", UncertainHours::Closed, upto, &futures);
        check(
            "Sat 00:00-24:00 UTC",
            UncertainHours::Closed,
            monday,
            &[["2026-03-07 00:00", "2026-03-08 00:00"]],
        );
        check("always", UncertainHours::Closed, monday, &[monday]);
    }

    #[test]
    fn forex_holiday_is_certain_only_where_both_calendars_close() {
        let christmas = [NaiveDate::from_ymd_opt(2017, 12, 25).unwrap()];
        let within = at("2017-12-24 22:00")..at("2017-12-26 06:00");
        let open = |doubt| MarketHours::Currencies.open_periods(&within, doubt, &christmas);
        // In winter, 17:00 in New York is 22:00 UTC.
        assert_eq!(open(UncertainHours::Closed), [at("2017-12-26 00:00")..within.end]);
        let possible = [within.start..at("2017-12-25 00:00"), at("2017-12-25 22:00")..within.end];
        assert_eq!(open(UncertainHours::Open), possible);
    }

    #[test]
    fn sessions_round_trip_and_errors_show_an_example() {
        for text in ["always", "currencies", "Mon-Fri 09:30-16:00 America/New_York", "Sat 10:00-11:00 UTC"] {
            assert_eq!(text.parse::<MarketHours>().unwrap().to_string(), text);
        }
        for text in
            ["", "Mon-Fri", "Mon-Fri 9-16 UTC", "Mon-Fri 09:30-16:00 Mars", "Mon-Fri 09:30-16:00 UTC x"]
        {
            let error = text.parse::<MarketHours>().unwrap_err().to_string();
            assert!(error.contains("America/New_York"), "{text}");
        }
    }
}
