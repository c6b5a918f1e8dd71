//! Exponential moving average.

use super::error::checked_period;
use super::smoothing::Smoothing;
use super::{IndicatorError, is_usable};

/// An average that forgets: each new value has the weight 2 / (period + 1), and the first answer is the simple
/// mean of the first `period` values (TA-Lib `EMA`).
#[derive(Clone, Debug)]
pub struct Ema {
    smoothing: Smoothing,
}

impl Ema {
    /// An average over `period` values, from 1.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        Ok(Self { smoothing: Smoothing::exponential(checked_period("ema", period, 1)?) })
    }

    /// Takes the next value, usually a close.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        if is_usable(value) { self.smoothing.update(value) } else { None }
    }

    /// Candles until the first value: `period`.
    pub fn warmup(&self) -> usize {
        self.smoothing.warmup()
    }

    /// Candles until the value no longer depends on where the series began: `period` + about 10.4 x (period + 1).
    pub fn stable_after(&self) -> usize {
        self.smoothing.warmup() + self.smoothing.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::reference::{check, check_stability};

    #[test]
    fn values_are_those_of_ta_lib() {
        let ema = || Ema::new(20).unwrap();
        check(["ema"], ema, Ema::warmup, |ema, candle| ema.update(candle.close()).map(|value| [value]));
    }

    #[test]
    fn a_later_start_agrees_once_stable() {
        let ema = || Ema::new(20).unwrap();
        check_stability(ema, Ema::stable_after, 1.0, |ema, candle| ema.update(candle.close()));
    }
}
