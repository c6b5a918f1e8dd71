//! Indicators that know when they are warm.
//!
//! Each is made with its periods, takes one candle (or one value, usually a close) per `update`, and answers
//! `None` until it has seen enough. What it answers is always a finite number. Where TA-Lib has an indicator the figures are TA-Lib's, to 1e-9
//! of their size, from the first answer on; the tests hold them to committed figures of the original library or to its port in Rust, and
//! the others to a plain calculation. The page of each names where its definition is from.
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
//! # How many candles
//! `warmup()` is the number of candles until the first answer. Some indicators are recursive: they remember the
//! very first candle, ever more faintly, so that two of them started at different candles disagree for a while.
//! `stable_after()` is the number of candles after which they agree to 1e-9 (MACD and ADX smooth twice: to 2e-9).
//! A strategy that must decide the same live, where it starts anywhere, as in a backtest asks for that many as
//! its warm-up.
//!
//! | indicator | TA-Lib | usual settings | first answer | stable after |
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
//! | [`Hull`] | of `WMA` | 16 | 19 | 19 |
//! | [`Donchian`] | `MAX`, `MIN` | 20 | 20 | 20 |
//! | [`Keltner`] | of `EMA`, `ATR` | 20, 10, 2.0 | 20 | 228 |
//! | [`WilliamsR`] | `WILLR` | 14 | 14 | 14 |
//! | [`ZScore`] | of `SMA`, `STDDEV` | 20 | 20 | 20 |
//! | [`HeikinAshi`] | | | 1 | 31 |
//! | [`Supertrend`] | of `ATR` | 10, 3.0 | 11 | no bound |
//! | [`ParabolicSar`] | `SAR` | 0.02, 0.2 | 2 | no bound |
//! | [`SessionRange`] | | 8 to 16 h, UTC | a day and 1 | a day and 1 |
//! | [`Pivots`] | | a day from 0 h, UTC | two days and 1 | two days and 1 |
//!
//! # Values that are left out
//! A value that is NaN, infinite, or beyond 1e100 is answered with `None` and leaves the indicator as it was.
//!
//! # Cost
//! Nothing is allocated after `new`. An update takes constant time (on average, where there is a window), but for [`Stochastic`] and
//! [`Cci`], which look through their window.

mod adx;
mod atr;
mod bollinger;
mod cci;
mod deviation;
mod donchian;
mod ema;
mod error;
mod extremes;
mod heikin_ashi;
mod hull;
mod keltner;
mod macd;
#[cfg(test)]
mod oracle;
mod parabolic_sar;
mod pivots;
#[cfg(test)]
mod reference;
mod rsi;
mod session_range;
mod sma;
mod smoothing;
mod stochastic;
mod supertrend;
mod williams_r;
mod window;
mod wma;
mod z_score;

pub use adx::{Adx, AdxLines};
pub use atr::Atr;
pub use bollinger::{Bollinger, BollingerBands};
pub use cci::Cci;
pub use donchian::{Donchian, DonchianChannel};
pub use ema::Ema;
pub use error::IndicatorError;
pub use heikin_ashi::HeikinAshi;
pub use hull::Hull;
pub use keltner::{Keltner, KeltnerChannel};
pub use macd::{Macd, MacdLines};
pub use parabolic_sar::{ParabolicSar, SarLine};
pub use pivots::{PivotLevels, Pivots};
pub use rsi::Rsi;
pub use session_range::{Session, SessionRange};
pub use sma::Sma;
pub use stochastic::{Stochastic, StochasticLines};
pub use supertrend::{Supertrend, SupertrendLine};
pub use williams_r::WilliamsR;
pub use wma::Wma;
pub use z_score::ZScore;

/// Largest accepted value.
///
/// Beyond it a sum or square could overflow, and running state would never recover.
const LARGEST: f64 = 1e100;

#[inline]
fn is_usable(value: f64) -> bool {
    value.abs() <= LARGEST
}

#[inline]
fn are_usable(values: &[f64]) -> bool {
    values.iter().fold(true, |are, value| are & is_usable(*value))
}
