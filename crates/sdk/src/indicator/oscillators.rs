//! Oscillators: RSI, stochastic, Williams %R and commodity channel index.

use super::averages::Smoothing;
use super::extremes::{Extremes, RecentExtremes};
use super::{IndicatorError, MAX_VALUE, Sma, checked_period, is_usable};
use crate::Candle;
use ta::Next;
use ta::indicators::{Maximum, Minimum};

/// Share of gains in all price changes, 0 to 100.
///
/// Gains and losses have Wilder's smoothing (TA-Lib `RSI`). Without any movement so far the value is 50, as in
/// TA-Lib since 0.8.1 (0 in earlier versions). The wrapped crate's RSI is not used: it starts with a gain and a loss
/// of 0.1, which dominate the first hundred candles at prices near 1.
#[derive(Clone, Debug)]
pub struct Rsi {
    /// Zero before the first value, whose change is skipped.
    previous: f64,
    /// Largest value that needs only smoothing; negative during warm-up. One comparison checks both cases.
    largest: f64,
    movements: Smoothing<2>,
}

impl Rsi {
    /// Creates an index over `period` changes, at least 2; usually 14.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let movements = Smoothing::wilder(checked_period("rsi", period, 2)?).skip_first();
        Ok(Self { previous: 0.0, largest: -1.0, movements })
    }

    /// Processes the next value, usually a close; `None` during warm-up.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        let change = value - self.previous;
        // Branch-free, because the direction of a change is unpredictable.
        let movements = [change, -change].map(|change| change.max(0.0));
        let [gain, loss] = if value.abs() <= self.largest {
            self.previous = value;
            self.movements.smooth(movements)
        } else {
            if !is_usable(value) {
                return None;
            }
            self.previous = value;
            let first = self.movements.update_all(movements)?;
            self.largest = MAX_VALUE;
            first
        };
        let movement = gain + loss;
        Some(if movement > 0.0 { 100.0 * (gain / movement) } else { rsi_without_movement() })
    }

    /// Returns the number of candles until the first value: `period` + 1. The first candle has no change.
    pub fn warmup(&self) -> usize {
        self.movements.warmup() + 1
    }

    /// Returns the number of candles until the start of the series is forgotten.
    /// This is about 21.7 x `period` (295 for 14).
    pub fn stable_after(&self) -> usize {
        self.warmup() + self.movements.memory()
    }
}

/// Returns the RSI of a market without any movement.
/// A separate function, so that it compiles to a jump: a conditional select would delay every other value.
#[cold]
fn rsi_without_movement() -> f64 {
    50.0
}

/// Position of the close in the range of the last candles, 0 to 100.
///
/// Smoothed twice with simple averages (TA-Lib `STOCH`). A range of zero width counts as 0, as in TA-Lib and
/// pandas-ta. A flat market therefore reads as oversold. A strategy that buys when oversold should also require a
/// range, such as an [`Atr`](super::Atr) above 0. An update scans the window if an extreme has just left it.
#[derive(Clone, Debug)]
pub struct Stochastic {
    period: usize,
    missing: usize,
    highest: Maximum,
    lowest: Minimum,
    k: Sma,
    d: Sma,
}

/// The two lines of a [`Stochastic`], 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StochasticLines {
    /// Smoothed position of the close in the range.
    pub k: f64,
    /// Smoothed `k`.
    pub d: f64,
}

impl Stochastic {
    /// Creates an oscillator over `period` candles, smoothed over `k` and then `d`. Usually 14, 3 and 3.
    pub fn new(period: usize, k: usize, d: usize) -> Result<Self, IndicatorError> {
        for period in [period, k, d] {
            checked_period("stochastic", period, 1)?;
        }
        let highest = Maximum::new(period).expect("the period is not 0");
        let lowest = Minimum::new(period).expect("the period is not 0");
        Ok(Self { period, missing: period, highest, lowest, k: Sma::new(k)?, d: Sma::new(d)? })
    }

    /// Processes the next candle and returns the lines, `None` during warm-up.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<StochasticLines> {
        if !is_usable(candle.high()) {
            return None;
        }
        let (highest, lowest) = (self.highest.next(candle.high()), self.lowest.next(candle.low()));
        // The wrapped extremes return partial results during warm-up.
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

    /// Returns the number of candles until the first value: `period` + `k` + `d` - 2.
    /// Older candles have no influence.
    pub fn warmup(&self) -> usize {
        self.period + self.k.warmup() + self.d.warmup() - 2
    }
}

/// Distance of the close below the highest high, relative to the range, 0 to -100.
/// 0 means at the high of the last candles, -100 at their low (Williams 1973, TA-Lib `WILLR`). A range of zero
/// width counts as 0, as in TA-Lib.
#[derive(Clone, Debug)]
pub struct WilliamsR {
    window: RecentExtremes,
}

impl WilliamsR {
    /// Creates an oscillator over `period` candles, at least 1; usually 14.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        Ok(Self { window: RecentExtremes::new(checked_period("williams %r", period, 1)?) })
    }

    /// Processes the next candle and returns the value, `None` during warm-up.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<f64> {
        if !is_usable(candle.high()) {
            return None;
        }
        let Extremes { highest, lowest } = self.window.update(Extremes::from_candle(candle))?;
        let range = highest - lowest;
        Some(if range > 0.0 { 100.0 * ((candle.close() - highest) / range) } else { 0.0 })
    }

    /// Returns the number of candles until the first value: `period`. Older candles have no influence.
    pub fn warmup(&self) -> usize {
        self.window.period()
    }
}

/// Lambert's constant, which puts most values between -100 and 100.
const LAMBERT_CONSTANT: f64 = 0.015;
/// Distances below this share of the mean are rounding errors (as in TA-Lib).
const MIN_SHARE: f64 = 1e-14;

/// Distance of the typical price from its mean, in mean absolute deviations.
///
/// The typical price is (high + low + close) / 3. Matches TA-Lib `CCI`, including 0 if there is no deviation. The
/// wrapped crate's CCI is not used: it uses the deviation of closes, and in a flat market its rounding errors grow to
/// +-67. An update scans the window, because the mean deviation has no incremental form.
#[derive(Clone, Debug)]
pub struct Cci {
    window: Box<[f64]>,
    next: usize,
    missing: usize,
}

impl Cci {
    /// Creates an index over `period` candles, at least 2; usually 20.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let period = checked_period("cci", period, 2)?;
        Ok(Self { window: vec![0.0; period].into_boxed_slice(), next: 0, missing: period })
    }

    /// Processes the next candle and returns the value, `None` during warm-up.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<f64> {
        if !is_usable(candle.high()) {
            return None;
        }
        let typical = (candle.high() + candle.low() + candle.close()) / 3.0;
        self.window[self.next] = typical;
        self.next = if self.next + 1 < self.window.len() { self.next + 1 } else { 0 };
        self.missing = self.missing.saturating_sub(1);
        (self.missing == 0).then(|| self.distance(typical))
    }

    fn distance(&self, typical: f64) -> f64 {
        let period = self.window.len() as f64;
        let mean = self.window.iter().sum::<f64>() / period;
        let deviation = self.window.iter().map(|price| (price - mean).abs()).sum::<f64>() / period;
        let (distance, unit, rounding) = (typical - mean, LAMBERT_CONSTANT * deviation, MIN_SHARE * mean);
        if distance.abs() <= rounding || deviation <= rounding || unit <= 0.0 { 0.0 } else { distance / unit }
    }

    /// Returns the number of candles until the first value: `period`. Older candles have no influence.
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
