//! Candle lengths, such as `5m`.

use crate::Millis;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Length of a candle in whole seconds, written as a number and a unit: `5s`, `1m`, `2h`, `1d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Interval(Millis);

/// Error for a text or number that is not an [`Interval`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" is not an interval: {hint} a whole number and a unit (s, m, h or d), such as 5s or 2h, from 1s to 31d",
    hint = format_hint_prefix(suggestion.as_deref(), "Write")
)]
pub struct IntervalError {
    text: String,
    suggestion: Option<String>,
}

/// Returns `did you mean SUGGESTION?` followed by `rest`, or only `use` if there is no suggestion.
pub(crate) fn format_hint_prefix(suggestion: Option<&str>, rest: &str) -> String {
    suggestion.map_or_else(|| "use".to_owned(), |suggestion| format!("did you mean {suggestion}? {rest}"))
}

fn suggest_interval(text: &str) -> Option<String> {
    suggest_duration(text, |seconds| {
        Interval::from_seconds(seconds).ok().map(|interval| interval.to_string())
    })
}

const UNITS: [(char, i64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];
const MAX_INTERVAL_SECONDS: i64 = 31 * 86_400;

impl Interval {
    /// One second, the shortest interval.
    pub const SECOND: Self = Self(Millis::SECOND);
    /// One minute, the usual interval.
    pub const MINUTE: Self = Self(Millis::MINUTE);

    /// Creates an interval from its length in seconds. Fails with [`IntervalError`] below one second or above 31 days.
    pub fn from_seconds(seconds: i64) -> Result<Self, IntervalError> {
        if (1..=MAX_INTERVAL_SECONDS).contains(&seconds) {
            Ok(Self(Millis::from_seconds(seconds)))
        } else {
            Err(IntervalError { text: format!("{seconds} seconds"), suggestion: None })
        }
    }

    /// Returns the length of the interval in milliseconds.
    #[inline]
    pub const fn length(self) -> Millis {
        self.0
    }
}

impl IntervalError {
    /// Returns the suggested correction, if any: `5s for 5 seconds, or 5m for 5 minutes` if the text was `5`.
    pub fn suggestion(&self) -> Option<&str> {
        self.suggestion.as_deref()
    }
}

impl FromStr for Interval {
    type Err = IntervalError;

    fn from_str(text: &str) -> Result<Self, IntervalError> {
        let error = || {
            let text: String = text.chars().take(32).collect();
            IntervalError { suggestion: suggest_interval(&text), text }
        };
        let unit = text.chars().last().ok_or_else(error)?;
        let (_, unit_seconds) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(error)?;
        let digits = &text[..text.len() - unit.len_utf8()];
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(error());
        }
        let count: i64 = digits.parse().map_err(|_| error())?;
        Self::from_seconds(count.saturating_mul(*unit_seconds)).map_err(|_| error())
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.get() / 1_000;
        let (unit, unit_seconds) =
            UNITS.iter().find(|(_, unit_seconds)| seconds % unit_seconds == 0).unwrap_or(&('s', 1));
        f.pad(&format!("{}{unit}", seconds / unit_seconds))
    }
}

impl TryFrom<String> for Interval {
    type Error = IntervalError;
    fn try_from(text: String) -> Result<Self, IntervalError> {
        text.parse()
    }
}

impl From<Interval> for String {
    fn from(interval: Interval) -> Self {
        interval.to_string()
    }
}

const UNIT_NAMES: [(&str, i64); 5] = [
    ("s sec secs second seconds", 1),
    ("m min mins minute minutes", 60),
    ("h hr hrs hour hours", 3_600),
    ("d day days", 86_400),
    ("", 0),
];

/// Suggests a duration for an invalid text. `format` renders a number of seconds.
/// A number without a unit is read both as seconds and as minutes, because other programs use either unit.
pub(crate) fn suggest_duration(text: &str, format: impl Fn(i64) -> Option<String>) -> Option<String> {
    let text = text.trim().trim_start_matches('@').to_ascii_lowercase();
    if let Some((minutes, seconds)) = text.split_once(':') {
        let seconds = parse_digits(seconds).filter(|_| seconds.len() == 2)?;
        return format(parse_digits(minutes)?.checked_mul(60)?.checked_add(seconds)?);
    }
    let is_letter = |letter: char| letter.is_ascii_alphabetic();
    let number = parse_digits(text.trim_matches(is_letter).trim())?;
    let unit = text.trim_matches(|letter: char| !is_letter(letter));
    let (_, seconds) = UNIT_NAMES.iter().find(|(names, _)| names.split(' ').any(|name| name == unit))?;
    if *seconds > 0 {
        return format(number.checked_mul(*seconds)?);
    }
    let plural = if number == 1 { "" } else { "s" };
    let reading = |(name, unit): (&str, i64)| {
        let code = format(number.checked_mul(unit)?)?;
        Some(format!("{code} for {number} {name}{plural}"))
    };
    let readings: Vec<String> = [("second", 1), ("minute", 60)].into_iter().filter_map(reading).collect();
    (!readings.is_empty()).then(|| readings.join(", or "))
}

fn parse_digits(text: &str) -> Option<i64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_parse_to_their_length_and_print_in_the_largest_unit() {
        for (text, seconds, printed) in [
            ("5s", 5, "5s"),
            ("1m", 60, "1m"),
            ("90s", 90, "90s"),
            ("120m", 7_200, "2h"),
            ("24h", 86_400, "1d"),
        ] {
            let interval: Interval = text.parse().unwrap();
            let found = (interval.length(), interval.to_string());
            assert_eq!(found, (Millis::from_seconds(seconds), printed.into()));
        }
    }

    #[test]
    fn suggests_interval_for_names_of_other_programs() {
        for (texts, ours) in [
            (&["M1", "1min", "1 m", "1M", "01:00"][..], "1m"),
            (&["15 minutes", "15 mins", "@15min"], "15m"),
            (&["H1"], "1h"),
            (&["4 hours"], "4h"),
            (&["D1"], "1d"),
            (&["S5"], "5s"),
            (&["60"], "1m for 60 seconds, or 1h for 60 minutes"),
            (&["M", "min", "0m", "-5m", "1.5m", "99999999999999999999", "M45000"], ""),
        ] {
            for text in texts {
                let error = text.parse::<Interval>().unwrap_err().to_string();
                let expected = if ours.is_empty() {
                    format!("\"{text}\" is not an interval: use a whole")
                } else {
                    format!("\"{text}\" is not an interval: did you mean {ours}? Write a whole number")
                };
                assert!(error.starts_with(&expected), "{error}");
            }
        }
    }

    #[test]
    fn rejects_texts_that_are_not_intervals() {
        for text in ["", "m", "0m", "-1m", "1.5m", "1 m", "1w", "32d", "99999999999999999999d", "m1", "1é"] {
            assert!(text.parse::<Interval>().is_err(), "{text:?}");
        }
    }
}
