//! Average true range, as defined by Wilder.

use super::error::checked_period;
use super::smoothing::Smoothing;
use super::{IndicatorError, is_usable};
use crate::Candle;

/// Smoothed average of the true range, in price units.
///
/// The true range is the price movement during a candle, including the gap before it. Matches
/// TA-Lib `ATR` with Wilder's smoothing.
#[derive(Clone, Debug)]
pub struct Atr {
    previous_close: Option<f64>,
    ranges: Smoothing,
}

#[inline]
pub(super) fn true_range(candle: &Candle, previous_close: f64) -> f64 {
    candle.high().max(previous_close) - candle.low().min(previous_close)
}

impl Atr {
    /// Creates an average over `period` true ranges, at least 1; usually 14.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let ranges = Smoothing::wilder(checked_period("atr", period, 1)?);
        Ok(Self { previous_close: None, ranges })
    }

    /// Processes the next candle and returns the average, `None` during warm-up.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<f64> {
        if !is_usable(candle.high()) {
            return None;
        }
        let previous_close = self.previous_close.replace(candle.close())?;
        self.ranges.update(true_range(candle, previous_close))
    }

    /// Returns the number of candles until the first value: `period` + 1.
    ///
    /// The first candle has no previous close.
    pub fn warmup(&self) -> usize {
        self.ranges.warmup() + 1
    }

    /// Returns the number of candles until the start of the series is forgotten.
    ///
    /// About 21.7 x period (295 for 14).
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
