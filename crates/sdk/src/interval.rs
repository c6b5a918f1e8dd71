//! Candle lengths.

use crate::Millis;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A candle's length: whole seconds, written as a number and a unit (`5s`, `1m`, `2h`, `1d`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Interval(Millis);

/// Why a text or a length is not an [`Interval`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" is not an interval: use a whole number from 1 and a unit s, m, h or d, such as 5s, 1m, 2h or 1d (at most 31d)"
)]
pub struct IntervalError {
    text: String,
}

const UNITS: [(char, i64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];
const LONGEST_SECONDS: i64 = 31 * 86_400;

impl Interval {
    /// One second, the shortest candle.
    pub const SECOND: Self = Self(Millis::SECOND);
    /// One minute, the usual candle.
    pub const MINUTE: Self = Self(Millis::MINUTE);

    /// From whole seconds.
    ///
    /// # Errors
    /// [`IntervalError`] below one second or above 31 days.
    pub fn from_seconds(seconds: i64) -> Result<Self, IntervalError> {
        if (1..=LONGEST_SECONDS).contains(&seconds) {
            Ok(Self(Millis::from_seconds(seconds)))
        } else {
            Err(IntervalError { text: format!("{seconds} seconds") })
        }
    }

    /// The length as a span.
    #[inline]
    pub const fn length(self) -> Millis {
        self.0
    }
}

impl FromStr for Interval {
    type Err = IntervalError;

    fn from_str(text: &str) -> Result<Self, IntervalError> {
        let error = || IntervalError { text: text.chars().take(32).collect() };
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
            assert_eq!(
                (interval.length(), interval.to_string()),
                (Millis::from_seconds(seconds), printed.into())
            );
        }
    }

    #[test]
    fn texts_that_are_not_intervals_are_refused() {
        for text in ["", "m", "0m", "-1m", "1.5m", "1 m", "1w", "32d", "99999999999999999999d", "m1", "1é"] {
            assert!(text.parse::<Interval>().is_err(), "{text:?}");
        }
    }
}
