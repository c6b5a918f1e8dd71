//! What a cell of a trader's list may say beside words: durations, zones by their hours, arrows.

use candlewick_sdk::{CloseType, Direction, Millis};
use chrono_tz::Tz;

/// Arrows that say which way.
const ARROWS_UP: [char; 3] = ['\u{2b06}', '\u{2191}', '\u{1f53c}'];
const ARROWS_DOWN: [char; 3] = ['\u{2b07}', '\u{2193}', '\u{1f53d}'];

/// The direction in which the arrows of a line point, where it has any.
pub(super) fn arrow_of(line: &str) -> Result<Option<Direction>, String> {
    match (line.contains(ARROWS_UP), line.contains(ARROWS_DOWN)) {
        (true, true) => Err("it has an arrow up and one down: leave one of them out".to_owned()),
        (true, false) => Ok(Some(Direction::Buy)),
        (false, true) => Ok(Some(Direction::Sell)),
        (false, false) => Ok(None),
    }
}

pub(super) const fn arrow_words(arrow: Direction) -> &'static str {
    match arrow {
        Direction::Buy => "up",
        Direction::Sell => "down",
    }
}

/// The duration of candles by a trader's name of them: M5, 5M and 5min are five minutes, H1 is an hour. `5H` is none: `14h` is a time
/// of day in some languages.
pub(super) fn timeframe(text: &str) -> Option<CloseType> {
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

/// A zone by its IANA name, or by its hours from UTC.
pub(super) fn zone_of(text: &str) -> Option<Tz> {
    text.parse().ok().or_else(|| offset_zone(text))
}

/// The zone of so many whole hours from UTC: `UTC-3`, `GMT+1`. In the IANA list the sign is the other way round.
pub(super) fn offset_zone(text: &str) -> Option<Tz> {
    let upper = text.to_ascii_uppercase();
    let hours = upper.strip_prefix("UTC").or_else(|| upper.strip_prefix("GMT"))?;
    if hours.is_empty() {
        return Some(Tz::UTC);
    }
    let (sign, digits) = match (hours.strip_prefix('+'), hours.strip_prefix('-')) {
        (Some(digits), _) => ('-', digits),
        (None, Some(digits)) => ('+', digits),
        (None, None) => return None,
    };
    let is_number = (1..=2).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
    match digits.parse::<u32>().ok().filter(|_| is_number)? {
        0 => Some(Tz::UTC),
        hours => format!("Etc/GMT{sign}{hours}").parse().ok(),
    }
}

/// The name of a zone, as a person writes it.
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
        use chrono::{Offset as _, TimeZone as _};
        let day = chrono::NaiveDate::from_ymd_opt(2026, 7, 1).unwrap();
        for (text, expected) in [
            ("UTC", Some(0)),
            ("utc-3", Some(-3)),
            ("UTC+05", Some(5)),
            ("GMT+1", Some(1)),
            ("GMT-11", Some(-11)),
            ("UTC+0", Some(0)),
            ("UTC+14", Some(14)),
            ("UTC+15", None),
            ("UTC-", None),
            ("UTC3", None),
            ("UTC+5:30", None),
            ("-3", None),
        ] {
            let hours = |zone: Tz| zone.offset_from_utc_date(&day).fix().local_minus_utc() / 3_600;
            let zone = offset_zone(text);
            assert_eq!(zone.map(hours), expected, "{text}");
            if let Some(hours) = expected.filter(|hours| *hours != 0) {
                assert_eq!(zone_words(zone.unwrap()), format!("UTC{hours:+}"));
            }
        }
        assert_eq!(zone_of("Europe/Berlin").map(zone_words).as_deref(), Some("Europe/Berlin"));
    }
}
