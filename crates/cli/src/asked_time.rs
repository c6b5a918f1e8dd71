//! Moments as an operator types them: complete, or without the day or year as `live` prints them.

use crate::arguments::parse_moment;
use crate::context::Context;
use candlewick_records::utc;
use candlewick_sdk::Millis;
use chrono::{DateTime, Datelike, Days, NaiveDateTime, NaiveTime};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AskedTime {
    Moment(Millis),
    /// A time of day; means its last occurrence before the end of the journal.
    OfDay(NaiveTime, String),
    /// A date and time without a year; means its last occurrence.
    OfYear(String),
}

const TIMES: [&str; 2] = ["%H:%M", "%H:%M:%S"];
const IN_YEAR: [&str; 2] = ["%Y %m-%d %H:%M", "%Y %m-%d %H:%M:%S"];

/// Parses a moment, or a time as `live` prints it: `17:08`, `17:08:30`, `01-05 17:08:30`.
pub(crate) fn parse_asked(text: &str) -> Result<AskedTime, String> {
    if let Some(time) = TIMES.iter().find_map(|form| NaiveTime::parse_from_str(text, form).ok()) {
        return Ok(AskedTime::OfDay(time, text.to_owned()));
    }
    // A leap year, so that each day of any year is one.
    if in_year(2_024, text).is_some() {
        return Ok(AskedTime::OfYear(text.to_owned()));
    }
    let moment = parse_moment(text).map(AskedTime::Moment);
    moment.map_err(|problem| {
        format!("{problem}; or a time as live prints it, such as 17:08 or \"01-05 17:08:30\"")
    })
}

fn in_year(year: i32, text: &str) -> Option<NaiveDateTime> {
    let whole = format!("{year} {text}");
    IN_YEAR.iter().find_map(|form| NaiveDateTime::parse_from_str(&whole, form).ok())
}

impl AskedTime {
    /// Returns the moment meant in a journal that ends at `last`, in UTC.
    ///
    /// It is not later than `last`, unless the text is a complete moment.
    pub(crate) fn before(&self, last: Millis) -> Option<Millis> {
        let end = DateTime::from_timestamp_millis(last.get())?.naive_utc();
        let day = |back: u64| end.date().checked_sub_days(Days::new(back));
        // The 29th of February was at most eight years before.
        let found = match self {
            Self::Moment(moment) => return Some(*moment),
            Self::OfDay(time, _) => {
                (0..2).filter_map(|back| Some(day(back)?.and_time(*time))).find(|at| *at <= end)
            }
            Self::OfYear(text) => {
                (0..=8).filter_map(|back| in_year(end.year() - back, text)).find(|at| *at <= end)
            }
        };
        found.map(|at| Millis::new(at.and_utc().timestamp_millis()))
    }

    pub(crate) fn say(&self, last: Millis, context: &Context<'_>) {
        if let (Some(text), Some(moment)) = (self.text(), self.before(last)) {
            let moment = utc(moment);
            context
                .say(&format!("note: {text} is taken for {moment}, the last one that the journal reaches"));
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Moment(_) => None,
            Self::OfDay(_, text) | Self::OfYear(text) => Some(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_without_its_day_is_the_last_one_that_the_journal_reaches() {
        // 2026-01-05T17:08:30Z, from `date -u -d '2026-01-05 17:08:30' +%s000`.
        let last = Millis::new(1_767_632_910_000);
        for (text, expected) in [
            ("17:08", "2026-01-05T17:08:00.000Z"),
            ("17:08:30", "2026-01-05T17:08:30.000Z"),
            // Not yet reached: that of the day before.
            ("17:08:31", "2026-01-04T17:08:31.000Z"),
            ("00:00", "2026-01-05T00:00:00.000Z"),
            ("01-05 17:08:30", "2026-01-05T17:08:30.000Z"),
            ("01-05 17:09", "2025-01-05T17:09:00.000Z"),
            ("12-31 23:59", "2025-12-31T23:59:00.000Z"),
            ("02-29 10:00", "2024-02-29T10:00:00.000Z"),
            ("2027-01-01", "2027-01-01T00:00:00.000Z"),
            ("1767580260000", "2026-01-05T02:31:00.000Z"),
        ] {
            let asked = parse_asked(text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
            assert_eq!(asked.before(last).map(utc).as_deref(), Some(expected), "{text}");
        }
        for text in ["24:00", "5 pm", "17", "02-30 10:00", "17:8:"] {
            assert!(parse_asked(text).is_err(), "{text}");
        }
    }
}
