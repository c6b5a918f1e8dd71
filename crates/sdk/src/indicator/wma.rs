//! Linearly weighted moving average.

use super::error::checked_period;
use super::window::{Fold, Window};
use super::{IndicatorError, is_usable};

/// Mean of the last `period` values with linear weights.
///
/// The newest value has the weight `period`, the one before it one less, and the oldest 1 (TA-Lib
/// `WMA`). In the unit of the values.
#[derive(Clone, Debug)]
pub struct Wma {
    window: Window<Sums>,
    weights: f64,
}

/// Sums over a run of values. The oldest one has weight 1.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: f64,
    sum: f64,
    weighted: f64,
}

impl Fold for Sums {
    #[inline]
    fn then(self, later: Self) -> Self {
        Self {
            count: self.count + later.count,
            sum: self.sum + later.sum,
            // Each later value weighs more by as many as there are before it.
            weighted: self.weighted + (later.weighted + self.count * later.sum),
        }
    }
}

impl Wma {
    /// Creates an average over `period` values, at least 1.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let period = checked_period("wma", period, 1)?;
        Ok(Self { window: Window::new(period), weights: (period * (period + 1) / 2) as f64 })
    }

    /// Processes the next value, usually a close; `None` during warm-up.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        if !is_usable(value) {
            return None;
        }
        let window = self.window.update(Sums { count: 1.0, sum: value, weighted: value })?;
        Some(window.weighted / self.weights)
    }

    /// Returns the number of candles until the first value: `period`.
    ///
    /// Older values have no influence.
    pub fn warmup(&self) -> usize {
        self.window.period()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Candle;
    use crate::indicator::oracle::{COUNT, END, check, series};
    use proptest::prelude::*;
    use ta_lib::Core;

    proptest! {
        #[test]
        fn figures_are_those_of_the_port(
            seed: u64, exponent in -6..6_i32, flat in 0..300_usize, period in 2..60_usize,
        ) {
            let candles = series(seed, 10_f64.powi(exponent), flat);
            let closes: Vec<f64> = candles.iter().map(Candle::close).collect();
            let mut expected = [0.0; COUNT];
            Core::new().wma(0, END, &closes, period as i32, &mut expected).unwrap();
            let mut wma = Wma::new(period).unwrap();
            check(&candles, (wma.warmup(), closes[0]), [&expected], |candle| Some([wma.update(candle.close())?]));
        }
    }

    #[test]
    fn newer_values_weigh_more_by_hand() {
        // (1 x 1 + 2 x 2 + 3 x 6) / 6, then (1 x 2 + 2 x 6 + 3 x 10) / 6.
        let mut wma = Wma::new(3).unwrap();
        let answers = [1.0, 2.0, f64::NAN, 6.0, 10.0].map(|value| wma.update(value));
        assert_eq!(answers, [None, None, None, Some(23.0 / 6.0), Some(44.0 / 6.0)]);
    }

    #[test]
    fn nothing_of_a_jump_stays_behind() {
        let mut wma = Wma::new(5).unwrap();
        let answers: Vec<_> =
            [1e90, 1.0, 2.0, 3.0, 4.0, 5.0].iter().map(|value| wma.update(*value)).collect();
        // (1 + 4 + 9 + 16 + 25) / 15.
        assert_eq!(answers[5], Some(55.0 / 15.0));
    }
}
