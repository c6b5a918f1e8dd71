//! Fixed date and time patterns.

use crate::csv::excerpt;
use candlewick_sdk::Millis;
use chrono::NaiveDate;

/// Date and time pattern: `Y`, `M`, `D`, `h`, `m`, `s` and `f` match one digit each.
///
/// `f` are milliseconds. All other characters match themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pattern(pub(super) &'static str);

impl Pattern {
    /// Parses `text` to milliseconds since 1970-01-01 of the same local clock.
    pub(super) fn read(self, text: &str) -> Result<Millis, String> {
        self.try_read(text).ok_or_else(|| {
            format!("time \"{}\" is not a date written as {}", excerpt(text.as_bytes()), self.0)
        })
    }

    pub(super) fn fits(self, text: &str) -> bool {
        self.try_read(text).is_some()
    }

    fn try_read(self, text: &str) -> Option<Millis> {
        if text.len() != self.0.len() {
            return None;
        }
        let [mut year, mut month, mut day, mut hour, mut minute, mut second, mut thousandth] = [0_u32; 7];
        for (place, byte) in self.0.bytes().zip(text.bytes()) {
            let field = match place {
                b'Y' => &mut year,
                b'M' => &mut month,
                b'D' => &mut day,
                b'h' => &mut hour,
                b'm' => &mut minute,
                b's' => &mut second,
                b'f' => &mut thousandth,
                _ if place == byte => continue,
                _ => return None,
            };
            *field = *field * 10 + char::from(byte).to_digit(10)?;
        }
        let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
        let time = date.and_hms_milli_opt(hour, minute, second, thousandth)?;
        Some(Millis::new(time.and_utc().timestamp_millis()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_exactly_or_not_at_all() {
        for (pattern, text, expected) in [
            ("YYYYMMDD hhmmss", "20240102 170000", Some(1_704_214_800_000)),
            ("YYYY.MM.DD hh:mm", "2024.01.02 17:00", Some(1_704_214_800_000)),
            ("DD.MM.YYYY hh:mm:ss.fff", "02.01.2024 17:00:00.250", Some(1_704_214_800_250)),
            ("YYYY-MM-DD", "1969-12-31", Some(-86_400_000)),
            ("YYYY-MM-DD", "2023-02-29", None),
            ("YYYY-MM-DD", "2024-1-02", None),
            ("YYYY-MM-DD", "2024-01-02 ", None),
            ("YYYY-MM-DD", "2024/01/02", None),
            ("YYYYMMDD hhmmss", "20240102 240000", None),
            ("YYYY-MM-DD", "２024-01", None),
        ] {
            assert_eq!(Pattern(pattern).read(text).ok(), expected.map(Millis::new), "{text}");
        }
    }
}
