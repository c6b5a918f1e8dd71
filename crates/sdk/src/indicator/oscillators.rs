//! Oscillators: RSI, stochastic, Williams %R and commodity channel index.

use super::averages::Smoothing;
use super::extremes::{Extremes, RecentExtremes};
use super::{IndicatorError, MAX_VALUE, Sma, check_period, is_usable};
use crate::Candle;
use ta::Next;
use ta::indicators::{Maximum, Minimum};

/// Relative strength index: the share of gains in all price changes, from 0 to 100.
///
/// Gains and losses are smoothed by Wilder's method (TA-Lib `RSI`). If the price has never changed, the value is 50, as
/// in TA-Lib since version 0.8.1. The RSI of the `ta` crate is not used, because its initial gain and loss of 0.1
/// dominate the first hundred candles at prices near 1.
#[derive(Clone, Debug)]
pub struct Rsi {
    /// Previous value, or zero before the first value.
    previous: f64,
    /// Largest absolute value for the fast path. Negative during warm-up, so that no value takes the fast path.
    fast_path_limit: f64,
    movements: Smoothing<2>,
}

impl Rsi {
    /// Creates an index over `period` price changes. The period is at least 2, usually 14.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let movements = Smoothing::with_wilder_weight(check_period("rsi", period, 2)?).skip_first_value();
        Ok(Self { previous: 0.0, fast_path_limit: -1.0, movements })
    }

    /// Processes the next value, usually a close. Returns `None` before the first value.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        let change = value - self.previous;
        // This calculation has no branch, because the direction of a change is unpredictable.
        let movements = [change, -change].map(|change| change.max(0.0));
        let [gain, loss] = if value.abs() <= self.fast_path_limit {
            self.previous = value;
            self.movements.smooth(movements)
        } else {
            if !is_usable(value) {
                return None;
            }
            self.previous = value;
            let first = self.movements.update_all(movements)?;
            self.fast_path_limit = MAX_VALUE;
            first
        };
        let movement = gain + loss;
        Some(if movement > 0.0 { 100.0 * (gain / movement) } else { rsi_without_movement() })
    }

    /// Returns the number of candles until the first result: `period` + 1, because the first candle has no change.
    pub fn candles_to_first_value(&self) -> usize {
        self.movements.warmup() + 1
    }

    /// Returns the number of candles after which the start of the series no longer matters.
    /// The number is about 21.7 x `period` (295 for a period of 14).
    pub fn warmup(&self) -> usize {
        self.candles_to_first_value() + self.movements.memory_length()
    }
}

/// Returns the RSI of a series without movement. Marked cold so that the check compiles to a predictable branch.
#[cold]
fn rsi_without_movement() -> f64 {
    50.0
}

/// Position of the close within the price range of the last candles, from 0 to 100.
///
/// The position is smoothed twice with simple averages (TA-Lib `STOCH`). If the range has zero width, the position is
/// 0, as in TA-Lib and pandas-ta. A flat market therefore counts as oversold. A strategy that buys when oversold should
/// also require movement, such as an [`Atr`](super::Atr) above 0. An update scans the window if an extreme leaves it.
#[derive(Clone, Debug)]
pub struct Stochastic {
    period: usize,
    missing: usize,
    highest: Maximum,
    lowest: Minimum,
    k: Sma,
    d: Sma,
}

/// The two values of a [`Stochastic`] at one candle, from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StochasticLines {
    /// Position of the close within the price range, smoothed once.
    pub k: f64,
    /// Position of the close within the price range, smoothed twice.
    pub d: f64,
}

impl Stochastic {
    /// Creates an oscillator from a period and the two smoothing periods `k` and `d`, usually 14, 3 and 3.
    pub fn new(period: usize, k: usize, d: usize) -> Result<Self, IndicatorError> {
        for period in [period, k, d] {
            check_period("stochastic", period, 1)?;
        }
        let highest = Maximum::new(period).expect("the period is not 0");
        let lowest = Minimum::new(period).expect("the period is not 0");
        Ok(Self { period, missing: period, highest, lowest, k: Sma::new(k)?, d: Sma::new(d)? })
    }

    /// Processes the next candle and returns both lines, or `None` before the first value.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<StochasticLines> {
        if !is_usable(candle.high()) {
            return None;
        }
        let (highest, lowest) = (self.highest.next(candle.high()), self.lowest.next(candle.low()));
        // The extremes of the `ta` crate return partial results during warm-up.
        self.missing = self.missing.saturating_sub(1);
        if self.missing > 0 {
            return None;
        }
        let range = highest - lowest;
        let place = if range > 0.0 { (candle.close() - lowest) / range * 100.0 } else { 0.0 };
        // A rounding error may push a running mean out of bounds.
        let k = self.k.update(place)?.clamp(0.0, 100.0);
        let d = self.d.update(k)?.clamp(0.0, 100.0);
        Some(StochasticLines { k, d })
    }

    /// Returns the number of candles until the first result, which is `period` + `k` + `d` - 2.
    /// A result uses only that many candles.
    pub fn warmup(&self) -> usize {
        self.period + self.k.warmup() + self.d.warmup() - 2
    }
}

/// Williams %R (1973): position of the close in the price range of the last candles, from -100 (lowest low) to 0
/// (highest high). Matches TA-Lib `WILLR`. If the range has zero width, the value is 0, as in TA-Lib.
#[derive(Clone, Debug)]
pub struct WilliamsR {
    window: RecentExtremes,
}

impl WilliamsR {
    /// Creates an oscillator over `period` candles. The period is at least 1, usually 14.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        Ok(Self { window: RecentExtremes::new(check_period("williams %r", period, 1)?) })
    }

    /// Processes the next candle and returns the value, or `None` before the first value.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<f64> {
        if !is_usable(candle.high()) {
            return None;
        }
        let Extremes { highest, lowest } = self.window.update(Extremes::from_candle(candle))?;
        let range = highest - lowest;
        Some(if range > 0.0 { 100.0 * ((candle.close() - highest) / range) } else { 0.0 })
    }

    /// Returns `period`, the number of candles until the first result. A result uses only the last `period` candles.
    pub fn warmup(&self) -> usize {
        self.window.period()
    }
}

/// Lambert's scaling constant, which puts most CCI values between -100 and 100.
const LAMBERT_CONSTANT: f64 = 0.015;
/// Minimum distance from the mean, as a fraction of the mean. Smaller distances are rounding errors (as in TA-Lib).
const MIN_DISTANCE: f64 = 1e-14;

/// Commodity channel index: the distance of the typical price from its mean, in units of the mean absolute deviation.
///
/// The typical price is (high + low + close) / 3. The index matches TA-Lib `CCI` and is 0 if all prices are equal. The
/// CCI of the `ta` crate is not used, because it measures the deviation of closes, and because rounding errors move its
/// value to +-67 in a flat market. An update scans the window, because the mean deviation has no incremental form.
#[derive(Clone, Debug)]
pub struct Cci {
    window: Box<[f64]>,
    next: usize,
    missing: usize,
}

impl Cci {
    /// Creates an index over `period` candles. The period is at least 2, usually 20.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let period = check_period("cci", period, 2)?;
        Ok(Self { window: vec![0.0; period].into_boxed_slice(), next: 0, missing: period })
    }

    /// Processes the next candle and returns the value, or `None` before the first value.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<f64> {
        if !is_usable(candle.high()) {
            return None;
        }
        let typical = (candle.high() + candle.low() + candle.close()) / 3.0;
        self.window[self.next] = typical;
        self.next = if self.next + 1 < self.window.len() { self.next + 1 } else { 0 };
        self.missing = self.missing.saturating_sub(1);
        (self.missing == 0).then(|| self.scaled_distance(typical))
    }

    fn scaled_distance(&self, typical: f64) -> f64 {
        let period = self.window.len() as f64;
        let mean = self.window.iter().sum::<f64>() / period;
        let deviation = self.window.iter().map(|price| (price - mean).abs()).sum::<f64>() / period;
        let (distance, unit, rounding) = (typical - mean, LAMBERT_CONSTANT * deviation, MIN_DISTANCE * mean);
        if distance.abs() <= rounding || deviation <= rounding || unit <= 0.0 { 0.0 } else { distance / unit }
    }

    /// Returns `period`, the number of candles until the first result. A result uses only the last `period` candles.
    pub fn warmup(&self) -> usize {
        self.window.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_neutral_without_movement_and_extreme_if_one_sided() {
        for (step, expected) in [(0.0, 50.0), (0.1, 100.0), (-0.1, 0.0)] {
            let mut rsi = Rsi::new(3).unwrap();
            let last = (0..9).fold(None, |_, i| rsi.update(5.0 + f64::from(i) * step));
            assert_eq!(last, Some(expected));
        }
    }
}
