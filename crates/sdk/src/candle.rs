//! Candles, validated once on creation.

use crate::{Interval, Millis};
use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

/// Unvalidated OHLCV values of a candle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ohlcv {
    /// First price.
    pub open: f64,
    /// Highest price.
    pub high: f64,
    /// Lowest price.
    pub low: f64,
    /// Last price.
    pub close: f64,
    /// Traded volume, 0 if the source has none.
    pub volume: f64,
}

/// A validated candle: open time (ms, UTC) and open, high, low, close, volume.
///
/// Invariants: all numbers are finite, prices are positive, the volume is not negative,
/// `low <= open, close <= high`, and the open time is aligned to the interval from the epoch.
///
/// The memory layout is six 8-byte words, open time first, so that a store can lend records
/// directly from a file ([`Pod`]). Such a store guarantees validity: it casts only bytes that were
/// written from candles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Pod, Zeroable)]
#[serde(try_from = "Unchecked")]
#[repr(C)]
pub struct Candle {
    time: Millis,
    open: f64,
    high: f64,
    low: f64,
    close: f64,
    volume: f64,
}

/// A deserialized candle.
///
/// Its interval is unknown, so the time is only checked for whole seconds.
#[derive(Deserialize)]
struct Unchecked {
    time: Millis,
    open: f64,
    high: f64,
    low: f64,
    close: f64,
    volume: f64,
}

impl TryFrom<Unchecked> for Candle {
    type Error = CandleError;

    fn try_from(read: Unchecked) -> Result<Self, CandleError> {
        let Unchecked { time, open, high, low, close, volume } = read;
        Self::new(time, Interval::SECOND, Ohlcv { open, high, low, close, volume })
    }
}

/// Validation errors of a candle.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CandleError {
    /// A number is NaN or infinite.
    #[error("{field} is not a finite number")]
    NotFinite {
        /// Name of the invalid field.
        field: &'static str,
    },
    /// A price is zero or negative.
    #[error("{field} {value} is not above zero")]
    NotPositive {
        /// Name of the price.
        field: &'static str,
        /// Rejected value.
        value: f64,
    },
    /// The volume is negative.
    #[error("volume {value} is below zero")]
    NegativeVolume {
        /// Rejected value.
        value: f64,
    },
    /// Open or close is outside the range from low to high.
    #[error("low {low} and high {high} do not enclose open {open} and close {close}")]
    OutsideRange {
        /// First price.
        open: f64,
        /// Highest price.
        high: f64,
        /// Lowest price.
        low: f64,
        /// Last price.
        close: f64,
    },
    /// The open time is not a multiple of the interval.
    #[error("time {time} is not aligned to {interval}")]
    Misaligned {
        /// Open time.
        time: Millis,
        /// Length of the candle.
        interval: Interval,
    },
}

impl Candle {
    /// Validates the numbers and creates the candle that opens at `time`.
    ///
    /// # Errors
    /// [`CandleError`] names the first violated rule.
    pub fn new(time: Millis, interval: Interval, numbers: Ohlcv) -> Result<Self, CandleError> {
        let Ohlcv { open, high, low, close, volume } = numbers;
        let prices = [("open", open), ("high", high), ("low", low), ("close", close)];
        for (field, value) in prices.into_iter().chain([("volume", volume)]) {
            if !value.is_finite() {
                return Err(CandleError::NotFinite { field });
            }
        }
        for (field, value) in prices {
            if value <= 0.0 {
                return Err(CandleError::NotPositive { field, value });
            }
        }
        if volume < 0.0 {
            return Err(CandleError::NegativeVolume { value: volume });
        }
        if low > open.min(close) || high < open.max(close) {
            return Err(CandleError::OutsideRange { open, high, low, close });
        }
        if !time.is_aligned_to(interval.length()) {
            return Err(CandleError::Misaligned { time, interval });
        }
        Ok(Self { time, open, high, low, close, volume })
    }

    /// Returns the open time.
    #[inline]
    pub const fn time(&self) -> Millis {
        self.time
    }

    /// Returns the close time: open time + interval.
    #[inline]
    pub fn close_time(&self, interval: Interval) -> Millis {
        self.time + interval.length()
    }

    /// Returns the first price.
    #[inline]
    pub const fn open(&self) -> f64 {
        self.open
    }

    /// Returns the highest price.
    #[inline]
    pub const fn high(&self) -> f64 {
        self.high
    }

    /// Returns the lowest price.
    #[inline]
    pub const fn low(&self) -> f64 {
        self.low
    }

    /// Returns the last price.
    #[inline]
    pub const fn close(&self) -> f64 {
        self.close
    }

    /// Returns the traded volume, 0 if the source has none.
    #[inline]
    pub const fn volume(&self) -> f64 {
        self.volume
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(time: i64, numbers: [f64; 5], expected: Result<(), &str>) {
        let [open, high, low, close, volume] = numbers;
        let made = Candle::new(Millis::new(time), Interval::MINUTE, Ohlcv { open, high, low, close, volume });
        assert_eq!(made.map(|_| ()).map_err(|e| e.to_string()), expected.map_err(str::to_owned));
    }

    #[test]
    fn a_sound_candle_is_made() {
        check(60_000, [1.0, 2.0, 0.5, 1.5, 0.0], Ok(()));
        check(0, [1.0, 1.0, 1.0, 1.0, 7.0], Ok(()));
    }

    #[test]
    fn each_broken_rule_is_named() {
        check(0, [1.0, f64::NAN, 0.5, 1.5, 0.0], Err("high is not a finite number"));
        check(0, [1.0, 2.0, 0.5, 1.5, f64::INFINITY], Err("volume is not a finite number"));
        check(0, [1.0, 2.0, 0.0, 1.5, 0.0], Err("low 0 is not above zero"));
        check(0, [1.0, 2.0, 0.5, 1.5, -1.0], Err("volume -1 is below zero"));
        check(0, [1.0, 1.2, 0.5, 1.5, 0.0], Err("low 0.5 and high 1.2 do not enclose open 1 and close 1.5"));
        check(1, [1.0, 2.0, 0.5, 1.5, 0.0], Err("time 1 is not aligned to 1m"));
    }
}
