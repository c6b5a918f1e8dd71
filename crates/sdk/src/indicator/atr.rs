//! Average true range, as Wilder defined it.

use super::error::checked_period;
use super::smoothing::Smoothing;
use super::{IndicatorError, is_usable};
use crate::Candle;

/// How far prices travel in a candle, gaps included, smoothed as Wilder did (TA-Lib `ATR`), in the unit of the
/// price.
#[derive(Clone, Debug)]
pub struct Atr {
    previous_close: Option<f64>,
    ranges: Smoothing,
}

/// The distance that the price travelled from the close before to the end of the candle.
#[inline]
pub(super) fn true_range(candle: &Candle, previous_close: f64) -> f64 {
    candle.high().max(previous_close) - candle.low().min(previous_close)
}

impl Atr {
    /// An average over `period` true ranges, from 1; the usual period is 14.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let ranges = Smoothing::wilder(checked_period("atr", period, 1)?);
        Ok(Self { previous_close: None, ranges })
    }

    /// Takes the next candle.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<f64> {
        if !is_usable(candle.high()) {
            return None;
        }
        let previous_close = self.previous_close.replace(candle.close())?;
        self.ranges.update(true_range(candle, previous_close))
    }

    /// Candles until the first value: `period` + 1, as the first candle has no close before it.
    pub fn warmup(&self) -> usize {
        self.ranges.warmup() + 1
    }

    /// Candles until the value no longer depends on where the series began: about 21.7 x period (295 for 14).
    pub fn stable_after(&self) -> usize {
        self.warmup() + self.ranges.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::reference::{check, check_stability};

    #[test]
    fn values_are_those_of_ta_lib() {
        let atr = || Atr::new(14).unwrap();
        check(["atr"], atr, Atr::warmup, |atr, candle| atr.update(candle).map(|value| [value]));
    }

    #[test]
    fn a_later_start_agrees_once_stable() {
        check_stability(|| Atr::new(14).unwrap(), Atr::stable_after, 1.0, Atr::update);
    }
}
