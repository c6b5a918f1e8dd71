//! Technical indicators that report their warm-up.
//!
//! `update` takes one candle or one value, usually a close. It returns `None` until there is a first value, and finite
//! values afterwards. If TA-Lib has the same indicator, the values match from the first one on, with a relative error
//! below 1e-9. Tests compare such indicators with TA-Lib or a Rust port, and all others with a simple calculation.
//!
//! ```
//! use candlewick_sdk::indicator::{IndicatorError, Sma};
//!
//! # fn main() -> Result<(), IndicatorError> {
//! let mut sma = Sma::new(3)?;
//! assert_eq!(sma.warmup(), 3);
//! let answers = [1.0, 2.0, 6.0, 10.0].map(|close| sma.update(close));
//! assert_eq!(answers, [None, None, Some(3.0), Some(6.0)]);
//! # Ok(())
//! # }
//! ```
//!
//! # Warm-up
//! The first candle influences all values of a recursive indicator, so two instances that started at different candles
//! disagree for a while. `warmup()` is the number of candles after which they agree to 1e-9 (MACD and ADX: 2e-9). Use it
//! as the warm-up of a strategy, so that live runs and backtests make the same decisions. Recursive indicators have
//! their first value earlier, after `candles_to_first_value()` candles.
//!
//! | indicator | TA-Lib | usual settings | first value | warm-up |
//! |---|---|---|---|---|
//! | [`Sma`] | `SMA` | 20 | 20 | 20 |
//! | [`Ema`] | `EMA` | 20 | 20 | 228 |
//! | [`Rsi`] | `RSI` | 14 | 15 | 295 |
//! | [`Macd`] | `MACD` | 12, 26, 9 | 34 | 397 |
//! | [`Bollinger`] | `BBANDS` | 20, 2.0 | 20 | 20 |
//! | [`Atr`] | `ATR` | 14 | 15 | 295 |
//! | [`Stochastic`] | `STOCH` | 14, 3, 3 | 18 | 18 |
//! | [`Adx`] | `ADX`, `PLUS_DI`, `MINUS_DI` | 14 | 28 | 588 |
//! | [`Cci`] | `CCI` | 20 | 20 | 20 |
//! | [`Wma`] | `WMA` | 20 | 20 | 20 |
//! | [`Hull`] | based on `WMA` | 16 | 19 | 19 |
//! | [`Donchian`] | `MAX`, `MIN` | 20 | 20 | 20 |
//! | [`Keltner`] | based on `EMA`, `ATR` | 20, 10, 2.0 | 20 | 228 |
//! | [`WilliamsR`] | `WILLR` | 14 | 14 | 14 |
//! | [`ZScore`] | based on `SMA`, `STDDEV` | 20 | 20 | 20 |
//! | [`HeikinAshi`] | | | 1 | 31 |
//! | [`Supertrend`] | based on `ATR` | 10, 3.0 | 11 | 511 |
//! | [`ParabolicSar`] | `SAR` | 0.02, 0.2 | 2 | 502 |
//! | [`SessionRange`] | | 8 to 16 h, UTC | a day and 1 | a day and 1 |
//! | [`Pivots`] | | a day from 0 h, UTC | two days and 1 | two days and 1 |
//!
//! # Skipped values
//! For a value that is NaN, infinite or beyond 1e100, `update` returns `None` and leaves the indicator unchanged.
//!
//! # Cost
//! Only `new` allocates memory. An update takes amortized constant time, except for [`Stochastic`] and [`Cci`], which
//! scan their window.

mod averages;
mod deviation;
mod extremes;
mod oscillators;
mod sessions;
#[cfg(test)]
mod tests;
mod trend;

use crate::Millis;
pub use averages::{Ema, Hull, Macd, MacdLines, Sma, Wma};
pub use deviation::{Bollinger, BollingerBands, ZScore};
pub use extremes::{Donchian, DonchianChannel};
pub use oscillators::{Cci, Rsi, Stochastic, StochasticLines, WilliamsR};
pub use sessions::{PivotLevels, Pivots, Session, SessionRange};
pub use trend::{
    Adx, AdxLines, Atr, HeikinAshi, Keltner, KeltnerChannel, ParabolicSar, SarLine, Supertrend,
    SupertrendLine,
};

/// Largest accepted value. A larger value could overflow a sum or square and corrupt an indicator permanently.
const MAX_VALUE: f64 = 1e100;

#[inline]
fn is_usable(value: f64) -> bool {
    value.abs() <= MAX_VALUE
}

#[inline]
fn are_usable(values: &[f64]) -> bool {
    values.iter().fold(true, |are, value| are & is_usable(*value))
}

/// Maximum period, as in TA-Lib.
const MAX_PERIOD: usize = 100_000;

/// Error for invalid settings of an indicator.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IndicatorError {
    /// The period is too short or too long.
    #[error("{indicator}: period {period} is outside {minimum} to {MAX_PERIOD}")]
    InvalidPeriod {
        /// Name of the indicator.
        indicator: &'static str,
        /// Requested period.
        period: usize,
        /// Minimum period.
        minimum: usize,
    },
    /// The fast period is not shorter than the slow period.
    #[error("{indicator}: fast period {fast} is not below slow period {slow}")]
    FastNotBelowSlow {
        /// Name of the indicator.
        indicator: &'static str,
        /// Fast period.
        fast: usize,
        /// Slow period.
        slow: usize,
    },
    /// The number of standard deviations for Bollinger Bands is outside (0, 1000].
    #[error("bollinger: deviations {deviations} is out of range: use a number above 0 and at most 1000")]
    InvalidDeviations {
        /// Requested number of standard deviations.
        deviations: f64,
    },
    /// The multiple of the average true range is outside (0, 1000].
    #[error("{indicator}: multiple {multiple} is out of range: use a number above 0 and at most 1000")]
    InvalidMultiple {
        /// Name of the indicator.
        indicator: &'static str,
        /// Requested multiple of the average true range.
        multiple: f64,
    },
    /// The step or the limit of a parabolic SAR is invalid.
    #[error("parabolic sar: step {step} and limit {limit}: use 0 < step <= limit <= 1")]
    InvalidAcceleration {
        /// Requested acceleration step.
        step: f64,
        /// Requested maximum acceleration.
        limit: f64,
    },
    /// The start of the session is outside [0, 24 h), or its length is outside (0, 24 h].
    #[error(
        "session range: start {start} ms or length {length} ms is invalid: use 0 <= start < 24 h and \
         0 < length <= 24 h"
    )]
    InvalidSession {
        /// Start of the session, relative to midnight UTC.
        start: Millis,
        /// Length of the session.
        length: Millis,
    },
}

fn check_period(indicator: &'static str, period: usize, minimum: usize) -> Result<usize, IndicatorError> {
    if (minimum..=MAX_PERIOD).contains(&period) {
        Ok(period)
    } else {
        Err(IndicatorError::InvalidPeriod { indicator, period, minimum })
    }
}

fn check_multiple(indicator: &'static str, multiple: f64) -> Result<f64, IndicatorError> {
    if multiple > 0.0 && multiple <= 1_000.0 {
        Ok(multiple)
    } else {
        Err(IndicatorError::InvalidMultiple { indicator, multiple })
    }
}
