//! Parses time zone names, suggests a name for an invalid one, and warns about misleading names.

use candlewick_sdk::edit_distance;
use chrono_tz::Tz;

/// Zones without daylight saving time whose offset is not a whole number of hours.
/// Fields: whether the zone is ahead of UTC, hours, minutes, zone. The offsets have not changed for forty years.
const FRACTIONAL_OFFSETS: [(bool, u32, u32, Tz); 6] = [
    (true, 4, 30, Tz::Asia__Kabul),
    (true, 5, 30, Tz::Asia__Kolkata),
    (true, 5, 45, Tz::Asia__Kathmandu),
    (true, 6, 30, Tz::Asia__Yangon),
    (true, 9, 30, Tz::Australia__Darwin),
    (false, 9, 30, Tz::Pacific__Marquesas),
];

/// Parses a time zone: an IANA name, or an offset in a format accepted by [`parse_utc_offset`].
pub fn parse_time_zone(name: &str) -> Option<Tz> {
    name.parse().ok().or_else(|| parse_utc_offset(name))
}

/// Parses an offset from UTC, such as `UTC-3`, `GMT+1`, `UTC+5:30` or `UTC +0530`.
/// IANA names have the opposite sign: `UTC-3` is `Etc/GMT+3`.
pub fn parse_utc_offset(text: &str) -> Option<Tz> {
    let lower = text.trim().to_lowercase();
    let hours = lower.strip_prefix("utc").or_else(|| lower.strip_prefix("gmt"))?.trim_start();
    if hours.is_empty() {
        return Some(Tz::UTC);
    }
    let (is_ahead, digits) = match (hours.strip_prefix('+'), hours.strip_prefix('-')) {
        (Some(digits), _) => (true, digits),
        (None, Some(digits)) => (false, digits),
        (None, None) => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "00"),
    };
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    let (count, rest) = (number(hours)?, number(minutes)?);
    if !(1..=2).contains(&hours.len()) || minutes.len() != 2 {
        return None;
    }
    match (count, rest) {
        (0, 0) => Some(Tz::UTC),
        (_, 0) => format!("Etc/GMT{}{count}", if is_ahead { '-' } else { '+' }).parse().ok(),
        _ => FRACTIONAL_OFFSETS
            .iter()
            .find(|part| (part.0, part.1, part.2) == (is_ahead, count, rest))
            .map(|part| part.3),
    }
}

/// Returns a hint for a text that is not a valid time zone.
pub fn invalid_time_zone_hint(text: &str) -> String {
    match nearest_zone(text) {
        Some(zone) => format!("did you mean {zone}?"),
        None => "use an IANA name, such as UTC or Europe/London, or hours from UTC, such as UTC-3".to_owned(),
    }
}

/// Returns a note about a zone that has no daylight saving time, although users often expect it.
pub fn missing_dst_note(zone: &str) -> Option<&'static str> {
    match zone {
        "EST" => Some("EST has no daylight saving time; for New York, use America/New_York"),
        "MST" => Some("MST has no daylight saving time; for Denver, use America/Denver"),
        _ => None,
    }
}

/// Returns a note about a zone name that users often confuse with another zone.
pub fn misleading_zone_note(written: &str) -> Option<String> {
    let turned = |hours: &str, sign: char, other: char| {
        let is_hours = hours.parse::<u8>().is_ok_and(|hours| hours > 0);
        let meant = parse_utc_offset(&format!("UTC{sign}{hours}"));
        let meant = meant.map_or(String::new(), |meant| format!("; UTC{sign}{hours} is {}", meant.name()));
        is_hours.then(|| format!("{written} is UTC{other}{hours}{meant}"))
    };
    match (written.strip_prefix("Etc/GMT-"), written.strip_prefix("Etc/GMT+")) {
        (Some(hours), _) => turned(hours, '-', '+'),
        (None, Some(hours)) => turned(hours, '+', '-'),
        (None, None) => missing_dst_note(written).map(str::to_owned),
    }
}

/// Returns the zone whose name or city is most similar to `text`, `None` if `text` is a short abbreviation.
/// Zones such as `Etc/GMT+3` are never suggested, because the sign in their names is reversed.
fn nearest_zone(text: &str) -> Option<&'static str> {
    let length = text.trim().chars().count();
    if length < 5 {
        return None;
    }
    let distance = |name: &'static str| {
        let city = name.rsplit('/').next().unwrap_or(name);
        edit_distance(text, name).min(edit_distance(text, city))
    };
    let has_fixed_hours = |name: &str| name.starts_with("Etc/") || name.starts_with("GMT");
    let names = chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name()).filter(|name| !has_fixed_hours(name));
    let ranked = names.map(|name| (distance(name), name));
    let best = ranked.min_by_key(|(distance, name)| (*distance, name.len()));
    best.filter(|(distance, _)| *distance <= (length / 5).min(2)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{Offset as _, TimeZone as _};

    #[test]
    fn note_on_zone_without_dst_names_a_city_with_the_same_winter_time() {
        let hours = |zone: &str, date: &str| {
            let noon = format!("{date}T12:00:00").parse().unwrap();
            zone.parse::<Tz>().unwrap().offset_from_utc_datetime(&noon).fix().local_minus_utc() / 3_600
        };
        for (zone, winter) in [("EST", -5), ("MST", -7)] {
            let note = missing_dst_note(zone).unwrap();
            let city = note.rsplit(' ').next().unwrap();
            assert_eq!([zone, city].map(|zone| hours(zone, "2026-01-05")), [winter, winter], "{note}");
            assert_eq!([zone, city].map(|zone| hours(zone, "2026-07-06")), [winter, winter + 1], "{note}");
        }
        // Hawaii has no daylight saving time, and EST5EDT follows New York.
        for zone in ["HST", "EST5EDT", "America/New_York", "UTC", "Etc/GMT+5"] {
            assert_eq!(missing_dst_note(zone), None, "{zone}");
        }
        assert_eq!([hours("HST", "2026-07-06"), hours("EST5EDT", "2026-07-06")], [-10, -4]);
    }

    #[test]
    fn parses_offsets_from_utc() {
        let noon = "2026-07-06T12:00:00".parse().unwrap();
        let minutes = |zone: Tz| zone.offset_from_utc_datetime(&noon).fix().local_minus_utc() / 60;
        for (text, expected) in [
            ("GMT-3", -180),
            ("UTC+02", 120),
            ("utc +5:00", 300),
            ("GMT-12", -720),
            ("UTC+14", 840),
            ("UTC+5:30", 330),
            ("UTC-0930", -570),
            ("GMT+0", 0),
            ("UTC", 0),
            ("Etc/GMT-3", 180),
        ] {
            assert_eq!(parse_time_zone(text).map(minutes), Some(expected), "{text}");
        }
        for none in ["GMT-3:30", "UTC+15", "GMT--3", "", "UTC3", "UTC-3h", "Brasilia time", "Nowhere/Here"] {
            assert_eq!(parse_time_zone(none), None, "{none}");
        }
        for hours in 1..=12 {
            for (zone, sign) in [(format!("Etc/GMT-{hours}"), 1), (format!("Etc/GMT+{hours}"), -1)] {
                assert_eq!(parse_time_zone(&zone).map(minutes), Some(sign * hours * 60), "{zone}");
                let note = misleading_zone_note(&zone).unwrap();
                assert!(note.starts_with(&format!("{zone} is UTC{:+}", sign * hours)), "{note}");
                let (same, named) = note.split_once("; ").unwrap().1.split_once(" is ").unwrap();
                assert_eq!(named.parse::<Tz>().ok(), parse_time_zone(same), "{note}");
                assert_eq!(parse_time_zone(named).map(minutes), Some(-sign * hours * 60), "{note}");
            }
        }
        assert_eq!(misleading_zone_note("Etc/GMT-14").as_deref(), Some("Etc/GMT-14 is UTC+14"));
        assert!(
            ["Etc/GMT", "Etc/GMT0", "Etc/GMT+0", "Etc/UTC"]
                .iter()
                .all(|zone| misleading_zone_note(zone).is_none())
        );
        assert_eq!(
            misleading_zone_note("Etc/GMT-3").as_deref(),
            Some("Etc/GMT-3 is UTC+3; UTC-3 is Etc/GMT+3")
        );
        assert_eq!(misleading_zone_note("UTC-3"), None);
    }

    #[test]
    fn suggests_zone_for_a_misspelt_name() {
        for (slip, zone) in [
            ("London", "Europe/London"),
            ("Asia/Tokio", "Asia/Tokyo"),
            ("Europe/Lodnon", "Europe/London"),
            ("new york", "America/New_York"),
            ("america/sao-paulo", "America/Sao_Paulo"),
        ] {
            assert_eq!(invalid_time_zone_hint(slip), format!("did you mean {zone}?"));
        }
        for none in ["GMT--3", "UTC+15", "", "Brasilia time", "Nowhere/Here"] {
            assert!(
                invalid_time_zone_hint(none).starts_with("use an IANA name, such as UTC or Europe/London"),
                "{none}"
            );
        }
    }
}
