//! Commodity channel index.

use super::error::checked_period;
use super::{IndicatorError, is_usable};
use crate::Candle;

/// Lambert's constant: most values then lie between -100 and 100.
const SCALE: f64 = 0.015;
/// Distances from the mean below this share of it are rounding, and count as none (TA-Lib's own bound).
const ROUNDING: f64 = 1e-14;

/// How far the typical price, (high + low + close) / 3, lies from its mean, in mean absolute deviations
/// (TA-Lib `CCI`).
///
/// Without any deviation the value is 0, as in TA-Lib.
///
/// Our own: the wrapped crate's takes the deviation of closes instead of typical prices, and its running sums
/// leave a rounding error that a stretch without movement would blow up to +-67. An update looks through the
/// window, as the mean deviation has no running form.
#[derive(Clone, Debug)]
pub struct Cci {
    window: Box<[f64]>,
    /// Where the next typical price goes.
    next: usize,
    missing: usize,
}

impl Cci {
    /// An index over `period` candles, from 2; the usual period is 20.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let period = checked_period("cci", period, 2)?;
        Ok(Self { window: vec![0.0; period].into_boxed_slice(), next: 0, missing: period })
    }

    /// Takes the next candle.
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
        let (distance, unit, rounding) = (typical - mean, SCALE * deviation, ROUNDING * mean);
        if distance.abs() <= rounding || deviation <= rounding || unit <= 0.0 { 0.0 } else { distance / unit }
    }

    /// Candles until the first value: `period`. Values depend on nothing older.
    pub fn warmup(&self) -> usize {
        self.window.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::reference::check;

    #[test]
    fn values_are_those_of_ta_lib() {
        let cci = || Cci::new(20).unwrap();
        check(["cci"], cci, Cci::warmup, |cci, candle| cci.update(candle).map(|value| [value]));
    }
}
