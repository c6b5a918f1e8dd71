//! Commodity channel index.

use super::error::checked_period;
use super::{IndicatorError, is_usable};
use crate::Candle;

/// Lambert's constant, which puts most values between -100 and 100.
const SCALE: f64 = 0.015;
/// Share of the mean below which a distance is rounding error (as in TA-Lib).
const ROUNDING: f64 = 1e-14;

/// Distance of the typical price from its mean, in mean absolute deviations.
///
/// The typical price is (high + low + close) / 3. Matches TA-Lib `CCI`, including 0 if there is no
/// deviation.
///
/// The wrapped crate's CCI is not used: it takes the deviation of closes, and the rounding errors
/// of its running sums grow to +-67 during a period without movement. An update scans the window,
/// because the mean deviation has no incremental form.
#[derive(Clone, Debug)]
pub struct Cci {
    window: Box<[f64]>,
    next: usize,
    missing: usize,
}

impl Cci {
    /// Creates an index over `period` candles, at least 2; usually 20.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
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
        let (distance, unit, rounding) = (typical - mean, SCALE * deviation, ROUNDING * mean);
        if distance.abs() <= rounding || deviation <= rounding || unit <= 0.0 { 0.0 } else { distance / unit }
    }

    /// Returns the number of candles until the first value: `period`.
    ///
    /// Older candles have no influence.
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
