//! Simple moving average.

use super::error::checked_period;
use super::{IndicatorError, is_usable};
use ta::Next;
use ta::indicators::SimpleMovingAverage;

/// Mean of the last `period` values (TA-Lib `SMA`).
#[derive(Clone, Debug)]
pub struct Sma {
    period: usize,
    missing: usize,
    mean: SimpleMovingAverage,
}

impl Sma {
    /// Creates an average over `period` values, at least 1.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let period = checked_period("sma", period, 1)?;
        let mean = SimpleMovingAverage::new(period).expect("the period is not 0");
        Ok(Self { period, missing: period, mean })
    }

    /// Processes the next value, usually a close; `None` during warm-up.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        if !is_usable(value) {
            return None;
        }
        let mean = self.mean.next(value);
        // The wrapped average answers from its first value on, with the mean of what it has.
        self.missing = self.missing.saturating_sub(1);
        (self.missing == 0).then_some(mean)
    }

    /// Returns the number of candles until the first value: `period`.
    ///
    /// Older values have no influence.
    pub fn warmup(&self) -> usize {
        self.period
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::reference::check;

    #[test]
    fn values_are_those_of_ta_lib() {
        let sma = || Sma::new(20).unwrap();
        check(["sma"], sma, Sma::warmup, |sma, candle| sma.update(candle.close()).map(|value| [value]));
    }

    #[test]
    fn the_mean_is_answered_from_the_last_missing_value_on() {
        let mut sma = Sma::new(3).unwrap();
        let answers = [1.0, 2.0, f64::NAN, 6.0, 10.0].map(|value| sma.update(value));
        assert_eq!(answers, [None, None, None, Some(3.0), Some(6.0)]);
    }
}
