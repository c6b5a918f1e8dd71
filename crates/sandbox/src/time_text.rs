//! Parsing of times that a user enters: ISO 8601 dates and times, and Unix times.

use candlewick_sdk::Millis;
use chrono::{NaiveDate, NaiveDateTime, NaiveTime};

/// Accepted Unix times (1990 to 2099) in milliseconds. The range is narrow enough to tell different units apart.
const PLAUSIBLE_UNIX_MS: std::ops::Range<i64> = 631_152_000_000..4_102_444_800_000;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseTimeError {
    #[error(
        "{text} is not a Unix time between 1990 and 2099. Use seconds, ms, microseconds or nanoseconds since 1970{}",
        date_hint(text)
    )]
    Number { text: String },
    #[error(
        "\"{text}\" is not a time: use a date such as 2026-01-05, a UTC time such as 2026-01-05T12:00, a time with a zone such as 2026-01-05T12:00+02:00, or milliseconds since 1970"
    )]
    Text { text: String },
}

fn date_hint(number: &str) -> String {
    let date = NaiveDate::parse_from_str(number, "%Y%m%d").ok().filter(|_| number.len() == 8);
    date.map(|date| format!("; did you mean {date}?")).unwrap_or_default()
}

pub fn parse_any_time(text: &str) -> Result<Millis, ParseTimeError> {
    let text = text.trim();
    let shown = || text.chars().take(40).collect::<String>();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_number && digits.matches('.').count() <= 1 {
        return parse_unix_time(text).ok_or_else(|| ParseTimeError::Number { text: shown() });
    }
    parse_time(text).ok_or_else(|| ParseTimeError::Text { text: shown() })
}

/// Parses a Unix time. The size of the number determines its unit. A time in seconds may have decimals.
pub fn parse_unix_time(text: &str) -> Option<Millis> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let number = i128::from(whole.parse::<i64>().ok()?);
    let thousandths: i128 = format!("{:0<3}", decimals.get(..decimals.len().min(3))?).parse().ok()?;
    let has_fraction = decimals.bytes().any(|digit| digit != b'0');
    let in_ms = [
        (number * 1_000 + thousandths, true),
        (number, false),
        (number / 1_000, false),
        (number / 1_000_000, false),
    ];
    let plausible = in_ms.into_iter().filter(|(_, has_decimals)| *has_decimals || !has_fraction);
    let mut moments = plausible.filter_map(|(ms, _)| i64::try_from(ms).ok());
    moments.find(|ms| PLAUSIBLE_UNIX_MS.contains(ms)).map(Millis::new)
}

/// Parses an ISO 8601 date or date-time with `T` or a space. Without a time zone, the time is in UTC.
pub fn parse_time(text: &str) -> Option<Millis> {
    let (local, offset) = split_zone(text)?;
    let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
    let timed = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(local, form).ok());
    let dated = || local.parse::<NaiveDate>().ok().map(|date| date.and_time(NaiveTime::MIN));
    timed.or_else(dated).map(|time| Millis::new(time.and_utc().timestamp_millis()) - offset)
}

pub fn has_time_zone(text: &str) -> bool {
    split_zone(text).is_some_and(|(local, _)| local.len() < text.len())
}

fn split_zone(text: &str) -> Option<(&str, Millis)> {
    let lower = text.to_ascii_lowercase();
    if let Some(name) = ["utc", "gmt", "z"].into_iter().find(|name| lower.ends_with(name)) {
        return Some((text[..text.len() - name.len()].trim_end(), Millis::ZERO));
    }
    // Skips the dashes that belong to the date.
    let sign = text.rfind(['+', '-']).filter(|at| text[..*at].contains(':') || text[*at..].starts_with('+'));
    let Some(at) = sign else { return Some((text, Millis::ZERO)) };
    let digits: String = text[at + 1..].chars().filter(|letter| *letter != ':').collect();
    let is_zone = matches!(digits.len(), 2 | 4) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let hours: i64 = digits.get(..2)?.parse().ok().filter(|hours| is_zone && *hours <= 14)?;
    let minutes: i64 = digits.get(2..).filter(|s| !s.is_empty()).map_or(Some(0), |s| s.parse().ok())?;
    let distance = Millis::HOUR * hours + Millis::MINUTE * minutes;
    let offset = if text[at..].starts_with('+') { distance } else { Millis::ZERO - distance };
    (minutes < 60).then(|| (text[..at].trim_end(), offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_common_time_formats_as_utc_by_default() {
        // The expected value is from `date -u -d '2026-01-05 12:30' +%s000`.
        let same = "2026-01-05T12:30:00Z|2026-01-05T12:30:00|2026-01-05 12:30:00|2026-01-05 12:30|2026-01-05T12:30Z|\
                    2026-01-05 14:30:00+02:00|2026-01-05T14:30+02:00|2026-01-05 14:30 +0200|2026-01-05T14:30+02|\
                    2026-01-05T07:30-05:00|2026-01-05 12:30 UTC";
        let none =
            "2026-01-05 25:00|2026-01-05 12:30+25:00|2026-01-05 12:30 Mars|05.01.2026|noon|-|\u{e9}+02:00|";
        for (texts, expected) in [
            (same, Some(1_767_616_200_000)),
            ("2026-01-05 12:30:00.250", Some(1_767_616_200_250)),
            ("2026-01-05|2026-01-05Z", Some(1_767_571_200_000)),
            ("2026-01-05+02:00", Some(1_767_564_000_000)),
            (none, None),
        ] {
            for text in texts.split('|') {
                assert_eq!(parse_time(text), expected.map(Millis::new), "{text}");
                assert_eq!(parse_any_time(text).ok(), expected.map(Millis::new), "{text}");
            }
        }
    }

    #[test]
    fn infers_the_unit_of_numeric_times() {
        // The expected time is 2026-01-08 14:00 UTC, from `date -u -d '2026-01-08 14:00' +%s`.
        let same = "1767880800|1767880800000|1767880800000.0|1767880800000000|1767880800000000000";
        let none = "0|60000|-1767880800000|17|1767880800000.5|99999999999999999999999999999999999999999";
        let half = ("1767880800.5", Some(1_767_880_800_500));
        for (texts, expected) in [(same, Some(1_767_880_800_000)), half, (none, None)] {
            for text in texts.split('|') {
                assert_eq!(parse_any_time(text).ok(), expected.map(Millis::new), "{text}");
            }
        }
        assert!(parse_any_time("20260105").unwrap_err().to_string().ends_with("did you mean 2026-01-05?"));
    }
}
