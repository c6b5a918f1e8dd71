//! A moment as people write it.

use candlewick_sdk::Millis;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};

/// Reads a date, or a date and a time of ISO 8601 with `T` or a space between them; UTC where no zone is named.
pub fn parse_time(text: &str) -> Option<Millis> {
    let zoned = || DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp_millis());
    let unzoned = || {
        let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
        let local = text.trim_end_matches(['Z', 'z']);
        forms.iter().find_map(|form| NaiveDateTime::parse_from_str(local, form).ok())
    };
    let date = || text.parse::<NaiveDate>().ok().map(|date| date.and_time(NaiveTime::MIN));
    let utc = || unzoned().or_else(date).map(|time| time.and_utc().timestamp_millis());
    zoned().or_else(utc).map(Millis::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_people_write_them_and_as_utc_without_a_zone() {
        // From `date -u -d '2026-01-05 12:30' +%s000`.
        for (text, expected) in [
            ("2026-01-05T12:30:00Z", Some(1_767_616_200_000)),
            ("2026-01-05T12:30:00", Some(1_767_616_200_000)),
            ("2026-01-05 12:30:00", Some(1_767_616_200_000)),
            ("2026-01-05 12:30", Some(1_767_616_200_000)),
            ("2026-01-05T12:30Z", Some(1_767_616_200_000)),
            ("2026-01-05 14:30:00+02:00", Some(1_767_616_200_000)),
            ("2026-01-05 12:30:00.250", Some(1_767_616_200_250)),
            ("2026-01-05", Some(1_767_571_200_000)),
            ("2026-01-05 25:00", None),
            ("05.01.2026", None),
            ("noon", None),
            ("", None),
        ] {
            assert_eq!(parse_time(text), expected.map(Millis::new), "{text}");
        }
    }
}
