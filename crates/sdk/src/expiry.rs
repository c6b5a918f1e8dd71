//! Expiry of a trade: a duration code (`closeType`) and an expiration type.

use crate::interval::{format_hint_prefix, suggest_duration};
use crate::{Interval, Millis};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A trade duration, written as `mm:ss`, or as `h:mm:ss` for one hour or longer (docs/api/observed.md).
///
/// For example, `01:00` is 60 seconds. The maximum is 24 hours. Stored as `u32` milliseconds to save memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CloseType(u32);

/// Parse error of a [`CloseType`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" is not a duration code: {hint} mm:ss, such as 00:05, or h:mm:ss, such as 1:00:00 (from 1 s to 24 h)",
    hint = format_hint_prefix(suggestion.as_deref(), "Write")
)]
pub struct CloseTypeError {
    text: String,
    suggestion: Option<String>,
}

fn suggest_code(text: &str) -> Option<String> {
    let code = |seconds: i64| {
        let seconds = Some(seconds).filter(|seconds| *seconds <= 86_400)?;
        CloseType::new(Millis::from_seconds(seconds)).ok().map(|code| code.to_string())
    };
    suggest_duration(text, code)
}

/// Rule by which the venue derives the closing time from the duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE", try_from = "Cow<str>")]
pub enum ExpirationType {
    /// No type is sent, so the venue uses its default, `TIME_FIXED` (docs/api/observed.md).
    #[default]
    Unstated,
    /// The trade closes when the duration has elapsed since the open.
    TimeFixed,
    /// The trade closes at the end of the current candle. The candle length is the duration.
    CandleClose,
    /// The trade opens and closes with the next candle. The candle length is the duration.
    NextCandle,
}

/// Parse error of an [`ExpirationType`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not an expiration type: use TIME_FIXED, CANDLE_CLOSE or NEXT_CANDLE, or omit it")]
pub struct ExpirationTypeError {
    text: String,
}

/// Expiry of a trade: duration code and expiration type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Expiry {
    /// Duration code, such as `01:00`.
    pub close_type: CloseType,
    /// Rule by which the venue derives the closing time from the duration.
    pub expiration_type: ExpirationType,
}

impl CloseType {
    /// Creates the code of a duration. Fails with [`CloseTypeError`] unless the duration is 1 to 86,400 whole seconds.
    pub fn new(duration: Millis) -> Result<Self, CloseTypeError> {
        let whole = duration.is_aligned_to(Millis::SECOND);
        let is_in_range = whole && duration > Millis::ZERO && duration <= Millis::DAY;
        let milliseconds = u32::try_from(duration.get()).ok().filter(|_| is_in_range);
        milliseconds
            .map(Self)
            .ok_or_else(|| CloseTypeError { text: format!("{duration} ms"), suggestion: None })
    }

    /// Returns the duration.
    #[inline]
    pub const fn duration(self) -> Millis {
        Millis::new(self.0 as i64)
    }
}

impl CloseTypeError {
    /// Returns the suggested correction, if any: `00:05 for 5 seconds, or 05:00 for 5 minutes` if the text was `5`.
    pub fn suggestion(&self) -> Option<&str> {
        self.suggestion.as_deref()
    }
}

impl Expiry {
    /// Creates an expiry `minutes` minutes after the open. Fails unless the duration is from 1 min to 24 h.
    ///
    /// ```
    /// let expiry = candlewick_sdk::Expiry::minutes(15)?;
    /// assert_eq!(expiry.close_type.to_string(), "15:00");
    /// # Ok::<(), candlewick_sdk::CloseTypeError>(())
    /// ```
    pub fn minutes(minutes: u16) -> Result<Self, CloseTypeError> {
        Self::from_whole_seconds(60 * i64::from(minutes), format_args!("{minutes} minutes"))
    }

    /// Creates an expiry `seconds` seconds after the open. Fails unless the duration is from 1 s to 24 h.
    pub fn seconds(seconds: u32) -> Result<Self, CloseTypeError> {
        Self::from_whole_seconds(i64::from(seconds), format_args!("{seconds} seconds"))
    }

    /// Creates an expiry `candles` candle lengths after the open. Fails for 0 candles and for durations above 24 h.
    ///
    /// ```
    /// use candlewick_sdk::{Expiry, Interval};
    ///
    /// let hours: Interval = "1h".parse()?;
    /// assert_eq!(Expiry::candles(2, hours)?.close_type.to_string(), "2:00:00");
    /// assert_eq!(Expiry::candles(2, Interval::MINUTE)?.close_type.to_string(), "02:00");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn candles(candles: u16, interval: Interval) -> Result<Self, CloseTypeError> {
        let seconds = interval.length().get() / 1_000 * i64::from(candles);
        Self::from_whole_seconds(seconds, format_args!("{candles} candles of {interval}"))
    }

    fn from_whole_seconds(seconds: i64, description: fmt::Arguments<'_>) -> Result<Self, CloseTypeError> {
        let close_type = CloseType::new(Millis::from_seconds(seconds))
            .map_err(|_| CloseTypeError { text: description.to_string(), suggestion: None })?;
        Ok(Self { close_type, expiration_type: ExpirationType::TimeFixed })
    }
}

impl FromStr for CloseType {
    type Err = CloseTypeError;

    fn from_str(text: &str) -> Result<Self, CloseTypeError> {
        let error =
            || CloseTypeError { text: text.chars().take(32).collect(), suggestion: suggest_code(text) };
        let sexagesimal = |part: &str| {
            let two_digits = part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
            part.parse::<i64>().ok().filter(|value| two_digits && *value < 60).ok_or_else(error)
        };
        let parts: Vec<&str> = text.split(':').collect();
        let seconds = match parts.as_slice() {
            [minutes, seconds] => sexagesimal(minutes)? * 60 + sexagesimal(seconds)?,
            [hours, minutes, seconds] => {
                let plain = (1..=2).contains(&hours.len()) && hours.bytes().all(|b| b.is_ascii_digit());
                let hours: i64 = hours.parse().ok().filter(|_| plain).ok_or_else(error)?;
                hours * 3_600 + sexagesimal(minutes)? * 60 + sexagesimal(seconds)?
            }
            _ => return Err(error()),
        };
        Self::new(Millis::from_seconds(seconds)).map_err(|_| error())
    }
}

impl fmt::Display for CloseType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000;
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        if hours > 0 {
            f.pad(&format!("{hours}:{minutes:02}:{seconds:02}"))
        } else {
            f.pad(&format!("{minutes:02}:{seconds:02}"))
        }
    }
}

impl TryFrom<String> for CloseType {
    type Error = CloseTypeError;
    fn try_from(text: String) -> Result<Self, CloseTypeError> {
        text.parse()
    }
}

impl From<CloseType> for String {
    fn from(close_type: CloseType) -> Self {
        close_type.to_string()
    }
}

impl ExpirationType {
    /// Returns the venue's name for the type, `TIME_FIXED` for `Unstated`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unstated | Self::TimeFixed => "TIME_FIXED",
            Self::CandleClose => "CANDLE_CLOSE",
            Self::NextCandle => "NEXT_CANDLE",
        }
    }
}

impl fmt::Display for ExpirationType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl TryFrom<Cow<'_, str>> for ExpirationType {
    type Error = ExpirationTypeError;

    fn try_from(text: Cow<'_, str>) -> Result<Self, ExpirationTypeError> {
        if text == "UNSTATED" { Ok(Self::Unstated) } else { text.parse() }
    }
}

impl FromStr for ExpirationType {
    type Err = ExpirationTypeError;
    fn from_str(text: &str) -> Result<Self, ExpirationTypeError> {
        match text {
            "TIME_FIXED" => Ok(Self::TimeFixed),
            "CANDLE_CLOSE" => Ok(Self::CandleClose),
            "NEXT_CANDLE" => Ok(Self::NextCandle),
            _ => Err(ExpirationTypeError { text: text.chars().take(32).collect() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_the_venue_round_trip() {
        for (code, seconds) in [
            ("00:05", 5),
            ("00:10", 10),
            ("00:30", 30),
            ("01:00", 60),
            ("02:00", 120),
            ("05:00", 300),
            ("15:00", 900),
            ("30:00", 1_800),
            ("1:00:00", 3_600),
            ("12:34:56", 45_296),
            ("24:00:00", 86_400),
        ] {
            let close_type: CloseType = code.parse().unwrap();
            assert_eq!(close_type.duration(), Millis::from_seconds(seconds));
            assert_eq!(close_type.to_string(), code);
        }
    }

    #[test]
    fn suggests_code_for_interval_names() {
        for (text, code) in [
            ("M5", "05:00"),
            ("5m", "05:00"),
            ("5 min", "05:00"),
            ("m90", "1:30:00"),
            ("H1", "1:00:00"),
            ("24h", "24:00:00"),
            ("30s", "00:30"),
            ("S5", "00:05"),
            ("@15min", "15:00"),
            ("3:00", "03:00"),
            ("0:30", "00:30"),
            ("90:00", "1:30:00"),
            ("3", "00:03 for 3 seconds, or 03:00 for 3 minutes"),
            ("120", "02:00 for 120 seconds, or 2:00:00 for 120 minutes"),
            ("1", "00:01 for 1 second, or 01:00 for 1 minute"),
            ("9999", "2:46:39 for 9999 seconds"),
        ] {
            let error = text.parse::<CloseType>().unwrap_err().to_string();
            let expected = format!("\"{text}\" is not a duration code: did you mean {code}? Write mm:ss,");
            assert!(error.starts_with(&expected), "{error}");
        }
        for text in
            ["0", "25h", "m", "0m", "m-5", "5x", "1:0", "x:00", ":", "99999", "99999999999999999999:00", ""]
        {
            let error = text.parse::<CloseType>().unwrap_err().to_string();
            assert!(error.contains("duration code: use mm:ss"), "{error}");
        }
    }

    #[test]
    fn builds_expiries_up_to_one_day() {
        let [five_seconds, one_hour] = ["5s", "1h"].map(|text| text.parse::<Interval>().unwrap());
        for (expiry, code) in [
            (Expiry::minutes(1), "01:00"),
            (Expiry::minutes(90), "1:30:00"),
            (Expiry::minutes(1_440), "24:00:00"),
            (Expiry::seconds(30), "00:30"),
            (Expiry::candles(3, five_seconds), "00:15"),
            (Expiry::candles(24, one_hour), "24:00:00"),
        ] {
            let (close_type, expiration_type) = (code.parse().unwrap(), ExpirationType::TimeFixed);
            assert_eq!(expiry, Ok(Expiry { close_type, expiration_type }));
        }
        for (expiry, text) in [
            (Expiry::minutes(0), "0 minutes"),
            (Expiry::minutes(1_441), "1441 minutes"),
            (Expiry::seconds(0), "0 seconds"),
            (Expiry::seconds(86_401), "86401 seconds"),
            (Expiry::candles(25, one_hour), "25 candles of 1h"),
        ] {
            let error = expiry.unwrap_err().to_string();
            assert!(error.starts_with(&format!("\"{text}\" is not a duration code: use")), "{error}");
        }
    }

    #[test]
    fn rejects_malformed_codes() {
        for code in
            ["", "60", "1:00", "00:00", "00:60", "60:00", "1:60:00", "24:00:01", "+1:00:00", "a:bc", "00:05:"]
        {
            assert!(code.parse::<CloseType>().is_err(), "{code:?}");
        }
    }
}
