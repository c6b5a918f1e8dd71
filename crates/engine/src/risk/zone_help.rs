//! What to write for a time zone that is none.

/// What to write in place of a text that is no time zone. `GMT-3`, as many lists have it, is a zone of the tz database under
/// the other sign alone.
pub fn time_zone_help(text: &str) -> String {
    match hours_from_utc(text) {
        Some(hours) if hours != 0 => format!(
            "use the zone of a city, such as America/Sao_Paulo, or Etc/GMT{:+}, whose sign is the other way round",
            -hours
        ),
        Some(_) => "use UTC".to_owned(),
        None => match nearest_zone(text) {
            Some(zone) => format!("did you mean {zone}?"),
            None => "use an IANA name, such as UTC or Europe/London".to_owned(),
        },
    }
}

/// What a person should know of a zone who means a city by it whose clocks are put forward in summer: those of the zone are not.
pub fn without_summer_time(zone: &str) -> Option<&'static str> {
    match zone {
        "EST" => Some("EST has no summer time; New York is America/New_York"),
        "MST" => Some("MST has no summer time; Denver is America/Denver"),
        _ => None,
    }
}

/// The zone whose name, or the city of whose name, is this one but for a slip of the keyboard. Abbreviations are too short to tell.
fn nearest_zone(text: &str) -> Option<&'static str> {
    let plain = |text: &str| text.trim().to_lowercase().replace([' ', '-'], "_");
    let wanted = plain(text);
    let length = wanted.chars().count();
    if length < 5 {
        return None;
    }
    let distance = |name: &'static str| {
        let known = plain(name);
        let city = known.rsplit('/').next().unwrap_or(&known);
        strsim::damerau_levenshtein(&wanted, &known).min(strsim::damerau_levenshtein(&wanted, city))
    };
    // Of zones with a city alone: those of fixed hours have a sign that is the other way round.
    let names =
        chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name()).filter(|name| !name.starts_with("Etc/"));
    let ranked = names.map(|name| (distance(name), name));
    let best = ranked.min_by_key(|(distance, name)| (*distance, name.len()));
    best.filter(|(distance, _)| *distance <= (length / 5).min(2)).map(|(_, name)| name)
}

/// The hours of `GMT-3`, `UTC+02` or `UTC+2:00`, where there is such a zone.
fn hours_from_utc(text: &str) -> Option<i8> {
    let upper = text.trim().to_ascii_uppercase();
    let rest = upper.strip_prefix("GMT").or_else(|| upper.strip_prefix("UTC"))?.trim();
    let hours: i8 = rest.strip_suffix(":00").unwrap_or(rest).parse().ok()?;
    (-12..=14).contains(&hours).then_some(hours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{Offset as _, TimeZone as _};
    use chrono_tz::Tz;

    #[test]
    fn of_a_zone_without_summer_time_the_city_is_named_that_shares_its_winter() {
        let hours = |zone: &str, date: &str| {
            let noon = format!("{date}T12:00:00").parse().unwrap();
            zone.parse::<Tz>().unwrap().offset_from_utc_datetime(&noon).fix().local_minus_utc() / 3_600
        };
        for (zone, winter) in [("EST", -5), ("MST", -7)] {
            let note = without_summer_time(zone).unwrap();
            let city = note.rsplit(' ').next().unwrap();
            assert_eq!([zone, city].map(|zone| hours(zone, "2026-01-05")), [winter, winter], "{note}");
            assert_eq!([zone, city].map(|zone| hours(zone, "2026-07-06")), [winter, winter + 1], "{note}");
        }
        // Hawaii has none, and EST5EDT is put forward as New York is.
        for zone in ["HST", "EST5EDT", "America/New_York", "UTC", "Etc/GMT+5"] {
            assert_eq!(without_summer_time(zone), None, "{zone}");
        }
        assert_eq!([hours("HST", "2026-07-06"), hours("EST5EDT", "2026-07-06")], [-10, -4]);
    }

    #[test]
    fn a_distance_from_utc_is_answered_with_the_zone_of_that_distance() {
        for (text, hours) in [("GMT-3", -3), ("UTC+02", 2), ("utc +5:00", 5), ("GMT-12", -12), ("UTC+14", 14)]
        {
            let help = time_zone_help(text);
            let (_, rest) = help.split_once("or ").unwrap();
            let zone: Tz = rest.split_once(',').unwrap().0.parse().unwrap();
            let moment = chrono::DateTime::from_timestamp_millis(1_767_614_400_000).unwrap().naive_utc();
            let offset = zone.offset_from_utc_datetime(&moment).fix().local_minus_utc();
            assert_eq!(offset, hours * 3_600, "{help}");
        }
        assert_eq!(time_zone_help("GMT+0"), "use UTC");
        for (slip, zone) in [
            ("London", "Europe/London"),
            ("Asia/Tokio", "Asia/Tokyo"),
            ("Europe/Lodnon", "Europe/London"),
            ("new york", "America/New_York"),
            ("america/sao-paulo", "America/Sao_Paulo"),
        ] {
            assert_eq!(time_zone_help(slip), format!("did you mean {zone}?"));
        }
        for none in ["GMT", "GMT-3:30", "UTC+15", "GMT--3", "", "Brasilia time", "Nowhere/Here"] {
            assert_eq!(time_zone_help(none), "use an IANA name, such as UTC or Europe/London", "{none}");
        }
    }
}
