//! Validated candles and market prices.

use crate::{Interval, Millis};
use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Unvalidated prices and volume of a candle.
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
    /// Traded volume, or 0 if the source does not report the volume.
    pub volume: f64,
}

/// A validated candle: open time (ms, UTC) and open, high, low, close, volume.
///
/// All numbers are finite, prices are positive, the volume is not negative, and low and high enclose open and close.
/// The open time is aligned to the interval, counted from the epoch. In memory, a candle is six 8-byte words, open time
/// first. A file with this layout can therefore be used as a slice of candles, without decoding ([`Pod`]).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Pod, Zeroable)]
#[serde(try_from = "UncheckedCandle")]
#[repr(C)]
pub struct Candle {
    time: Millis,
    open: f64,
    high: f64,
    low: f64,
    close: f64,
    volume: f64,
}

/// A candle before validation. The interval is unknown, so any whole second is a valid open time.
#[derive(Deserialize)]
struct UncheckedCandle {
    time: Millis,
    open: f64,
    high: f64,
    low: f64,
    close: f64,
    volume: f64,
}

impl TryFrom<UncheckedCandle> for Candle {
    type Error = CandleError;

    fn try_from(candle: UncheckedCandle) -> Result<Self, CandleError> {
        let UncheckedCandle { time, open, high, low, close, volume } = candle;
        Self::new(time, Interval::SECOND, Ohlcv { open, high, low, close, volume })
    }
}

/// Validation error of a [`Candle`].
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
        /// Name of the price, such as `open`.
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
    /// Validates `numbers` and creates the candle that opens at `time`.
    /// Fails with [`CandleError`] for the first invalid value.
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

    pub(crate) const fn ohlcv(&self) -> Ohlcv {
        let Self { open, high, low, close, volume, .. } = *self;
        Ohlcv { open, high, low, close, volume }
    }

    /// Returns the open time.
    #[inline]
    pub const fn time(&self) -> Millis {
        self.time
    }

    /// Returns the close time, which is the open time plus `interval`.
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

    /// Returns the traded volume, or 0 if the source does not report the volume.
    #[inline]
    pub const fn volume(&self) -> f64 {
        self.volume
    }
}

/// Latest price of a symbol, with its time on the venue's clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Time of the price on the venue's clock.
    pub time: Millis,
    /// Price in the quote currency, greater than zero.
    pub value: f64,
}

/// Relative tolerance, far above rounding errors (about 1e-15) and far below the tick size of any market.
const PRICE_TOLERANCE: f64 = 1e-12;

/// Compares two prices, ignoring rounding errors. Decides whether a trade is won, lost or a draw.
///
/// Two prices are equal if they differ by at most 1e-12 of the larger price (docs/domain.md, "Outcome").
///
/// ```
/// # use candlewick_sdk::compare_prices;
/// # use std::cmp::Ordering;
/// assert_eq!(compare_prices(1.3490380000000002, 1.349038), Ordering::Equal);
/// assert_eq!(compare_prices(1.34904, 1.34903), Ordering::Greater);
/// ```
#[inline]
pub fn compare_prices(price: f64, other: f64) -> Ordering {
    if (price - other).abs() <= PRICE_TOLERANCE * price.abs().max(other.abs()) {
        return Ordering::Equal;
    }
    price.total_cmp(&other)
}

const SIGNIFICANT_PRICE_DIGITS: i32 = 8;

/// Formats a price with eight significant digits, but at least two decimals. Omits trailing zeros.
///
/// ```
/// # use candlewick_sdk::format_price;
/// assert_eq!(format_price(93663.52500000001), "93663.525");
/// assert_eq!(format_price(1.1701), "1.1701");
/// ```
pub fn format_price(price: f64) -> String {
    let magnitude = if price == 0.0 { 0 } else { price.abs().log10().floor() as i32 };
    let decimals = (SIGNIFICANT_PRICE_DIGITS - 1).saturating_sub(magnitude).clamp(2, 18) as usize;
    let text = format!("{price:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
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
    fn accepts_valid_candles_and_names_each_violated_rule() {
        check(60_000, [1.0, 2.0, 0.5, 1.5, 0.0], Ok(()));
        check(0, [1.0, 1.0, 1.0, 1.0, 7.0], Ok(()));
        check(0, [1.0, f64::NAN, 0.5, 1.5, 0.0], Err("high is not a finite number"));
        check(0, [1.0, 2.0, 0.5, 1.5, f64::INFINITY], Err("volume is not a finite number"));
        check(0, [1.0, 2.0, 0.0, 1.5, 0.0], Err("low 0 is not above zero"));
        check(0, [1.0, 2.0, 0.5, 1.5, -1.0], Err("volume -1 is below zero"));
        check(0, [1.0, 1.2, 0.5, 1.5, 0.0], Err("low 0.5 and high 1.2 do not enclose open 1 and close 1.5"));
        check(1, [1.0, 2.0, 0.5, 1.5, 0.0], Err("time 1 is not aligned to 1m"));
    }

    #[test]
    fn prices_within_rounding_errors_are_equal() {
        for (price, other, expected) in [
            (1.349_038_000_000_000_2, 1.349_038, Ordering::Equal),
            (0.1 + 0.2, 0.3, Ordering::Equal),
            (94_669.972_000_000_01, 94_669.972, Ordering::Equal),
            (1.5, 1.5, Ordering::Equal),
            (0.0, 0.0, Ordering::Equal),
            (100_000.000_001, 100_000.0, Ordering::Greater),
            (0.000_012_34, 0.000_012_35, Ordering::Less),
            (1.000_000_000_002, 1.0, Ordering::Greater),
            (1.0, 1.000_000_000_002, Ordering::Less),
        ] {
            assert_eq!(compare_prices(price, other), expected, "{price} {other}");
            assert_eq!(compare_prices(other, price), expected.reverse(), "{other} {price}");
        }
    }

    #[test]
    fn interpolated_prices_compare_like_exact_fractions() {
        let path = |open: i64, close: i64, second: i64| {
            let [from, to] = [open, close].map(|ticks| ticks as f64 / 100_000.0);
            (from + (to - from) * second as f64 / 60.0, open * 60 + (close - open) * second)
        };
        let ends = (0..8).map(|number| (134_900 + number * 3, 134_912 - number * 5 % 7));
        let prices: Vec<(f64, i64)> = ends
            .flat_map(|(open, close)| (0..60).step_by(3).map(move |second| path(open, close, second)))
            .collect();
        let mut noisy = 0;
        for (price, exact) in &prices {
            for (other, other_exact) in &prices {
                assert_eq!(compare_prices(*price, *other), exact.cmp(other_exact), "{price} {other}");
                noisy += usize::from(exact == other_exact && price != other);
            }
        }
        assert!(noisy > 0, "no two of these prices differ by rounding errors only");
    }

    #[test]
    fn formats_prices_with_significant_digits() {
        for (price, expected) in [
            (93_663.525_000_000_01, "93663.525"),
            (93_663.487_166_666_67, "93663.487"),
            (100.0, "100"),
            (1.1701, "1.1701"),
            (1.170_123_46, "1.1701235"),
            (0.000_012_345_678_9, "0.000012345679"),
            (1_234_567_891.239, "1234567891.24"),
            (0.1 + 0.2, "0.3"),
            (9.999_999_999, "10"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(format_price(price), expected);
        }
    }
}
