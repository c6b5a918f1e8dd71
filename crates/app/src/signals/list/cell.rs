//! Parsing of list cells other than words: durations, UTC offsets, arrows and circles.

use super::plain::folded;
use super::zone_names::known_zone;
use candlewick_sdk::{CloseType, Direction, Millis};
use chrono_tz::Tz;

const ARROWS_UP: [char; 5] = ['\u{2b06}', '\u{2191}', '\u{1f53c}', '\u{2197}', '\u{2934}'];
const ARROWS_DOWN: [char; 5] = ['\u{2b07}', '\u{2193}', '\u{1f53d}', '\u{2198}', '\u{2935}'];
const GREEN: char = '\u{1f7e2}';
const RED: char = '\u{1f534}';

pub(super) fn arrow_of(line: &str) -> Result<Option<Direction>, String> {
    direction_of(line.contains(ARROWS_UP), line.contains(ARROWS_DOWN), "an arrow up and one down")
}

pub(super) fn circle_of(line: &str) -> Result<Option<Direction>, String> {
    direction_of(line.contains(GREEN), line.contains(RED), "a green circle and a red one")
}

fn direction_of(is_buy: bool, is_sell: bool, both: &str) -> Result<Option<Direction>, String> {
    match (is_buy, is_sell) {
        (true, true) => Err(format!("it has {both}: leave one of them out")),
        (true, false) => Ok(Some(Direction::Buy)),
        (false, true) => Ok(Some(Direction::Sell)),
        (false, false) => Ok(None),
    }
}

/// Parses a timeframe: M5, 5M and 5min are five minutes, H1 is an hour.
///
/// `5H` is rejected: `14h` is a time of day in some languages.
pub(crate) fn timeframe(text: &str) -> Option<CloseType> {
    let upper = text.to_ascii_uppercase();
    let minutes = || upper.strip_suffix("MIN").or_else(|| upper.strip_suffix('M'));
    let (digits, unit, longest) = match (upper.strip_prefix('M'), upper.strip_prefix('H')) {
        (Some(digits), _) => (digits, 60, 59),
        (None, Some(digits)) => (digits, 3_600, 24),
        (None, None) => (minutes()?, 60, 59),
    };
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    let count: i64 = digits.parse().ok().filter(|count| is_number && (1..=longest).contains(count))?;
    CloseType::new(Millis::from_seconds(count * unit)).ok()
}

pub(super) fn zone_of(text: &str) -> Option<Tz> {
    text.parse().ok().or_else(|| offset_zone(text)).or_else(|| known_zone(text))
}

/// Parses a zone in an unnamed column, where `EST` and the like could mean anything.
pub(super) fn zone_cell(text: &str) -> Option<Tz> {
    offset_zone(text)
        .or_else(|| known_zone(text))
        .or_else(|| text.parse().ok().filter(|_| text.contains('/')))
}

pub(crate) fn offset_zone(text: &str) -> Option<Tz> {
    candlewick_engine::offset_zone(&folded(text))
}

pub(crate) fn zone_words(zone: Tz) -> String {
    let name = zone.name();
    match (name.strip_prefix("Etc/GMT+"), name.strip_prefix("Etc/GMT-")) {
        (Some(hours), _) => format!("UTC-{hours}"),
        (None, Some(hours)) => format!("UTC+{hours}"),
        (None, None) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_read_in_the_ways_in_which_chats_write_it() {
        let minutes = |text| timeframe(text).map(|found| found.duration().get() / 60_000);
        for (text, expected) in [
            ("M5", Some(5)),
            ("5M", Some(5)),
            ("5m", Some(5)),
            ("15min", Some(15)),
            ("H1", Some(60)),
            ("h24", Some(1_440)),
            ("60M", None),
            ("0min", None),
            ("1H", None),
            ("14h", None),
            ("M5M", None),
            ("+5M", None),
            ("5", None),
            ("M", None),
            ("MIN", None),
            ("", None),
        ] {
            assert_eq!(minutes(text), expected, "{text:?}");
        }
    }

    #[test]
    fn hours_from_utc_are_a_zone_and_are_shown_as_they_are_written() {
        use chrono::{NaiveDate, Offset as _, TimeZone as _};
        for (text, minutes) in [
            ("UTC", Some(0)),
            ("utc-3", Some(-180)),
            ("UTC -3", Some(-180)),
            ("UTC\u{2212}03:00", Some(-180)),
            ("UTC+05", Some(300)),
            ("GMT+1", Some(60)),
            ("GMT-11", Some(-660)),
            ("UTC+0", Some(0)),
            ("UTC+14", Some(840)),
            ("UTC+5:30", Some(330)),
            ("UTC+05:30", Some(330)),
            ("GMT +5:30", Some(330)),
            ("UTC+0530", Some(330)),
            ("UTC+5:45", Some(345)),
            ("UTC+4:30", Some(270)),
            ("UTC+6:30", Some(390)),
            ("UTC+9:30", Some(570)),
            ("UTC-9:30", Some(-570)),
            ("UTC-0300", Some(-180)),
            ("UTC+15", None),
            ("UTC-", None),
            ("UTC3", None),
            // Half an hour that no zone has, or that one has in a part of the year alone.
            ("UTC-5:30", None),
            ("UTC+3:30", None),
            ("UTC+5:3", None),
            ("UTC+530", None),
            ("UTC+5:30:00", None),
            ("UTC++5", None),
            ("-3", None),
        ] {
            for (year, month) in [(1986, 7), (2005, 1), (2026, 7)] {
                let day = NaiveDate::from_ymd_opt(year, month, 1).unwrap();
                let found =
                    offset_zone(text).map(|zone| zone.offset_from_utc_date(&day).fix().local_minus_utc());
                assert_eq!(found, minutes.map(|minutes| minutes * 60), "{text} in {year}");
            }
            if let Some(hours) =
                minutes.filter(|minutes| *minutes != 0 && minutes % 60 == 0).map(|all| all / 60)
            {
                assert_eq!(zone_words(offset_zone(text).unwrap()), format!("UTC{hours:+}"));
            }
        }
        assert_eq!(zone_of("Europe/Berlin").map(zone_words).as_deref(), Some("Europe/Berlin"));
        assert_eq!((zone_of("EST").is_some(), zone_cell("EST"), zone_cell("CALL")), (true, None, None));
        assert_eq!(zone_cell("America/New_York"), Some(Tz::America__New_York));
        assert_eq!(zone_cell("EUR/USD"), None);
        assert_eq!(zone_cell("WIB"), Some(Tz::Etc__GMTMinus7));
    }
}
