//! Hull moving average.

use super::error::checked_period;
use super::{IndicatorError, Wma};

/// Moving average with little lag, in the unit of the values (Hull 2005).
///
/// Twice the weighted average over half the period minus the one over the full period, smoothed by
/// a weighted average over the square root of the period. Both are rounded down.
#[derive(Clone, Debug)]
pub struct Hull {
    half: Wma,
    full: Wma,
    smooth: Wma,
}

impl Hull {
    /// Creates an average over `period` values, at least 2; usually 16.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let period = checked_period("hull", period, 2)?;
        Ok(Self { half: Wma::new(period / 2)?, full: Wma::new(period)?, smooth: Wma::new(period.isqrt())? })
    }

    /// Processes the next value, usually a close; `None` during warm-up.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        // Both are updated before either may end the function.
        let (half, full) = (self.half.update(value), self.full.update(value));
        self.smooth.update(2.0 * half? - full?)
    }

    /// Returns the number of candles until the first value.
    ///
    /// `period` plus its square root minus 1 (19 for 16). Older values have no influence.
    pub fn warmup(&self) -> usize {
        self.full.warmup() + self.smooth.warmup() - 1
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
        fn figures_are_those_of_the_ports_weighted_averages(
            seed: u64, exponent in -6..6_i32, flat in 0..300_usize, period in 4..60_usize,
        ) {
            let candles = series(seed, 10_f64.powi(exponent), flat);
            let closes: Vec<f64> = candles.iter().map(Candle::close).collect();
            let (core, mut half, mut full) = (Core::new(), [0.0; COUNT], [0.0; COUNT]);
            core.wma(0, END, &closes, period as i32 / 2, &mut half).unwrap();
            core.wma(0, END, &closes, period as i32, &mut full).unwrap();
            // The half begins as many values earlier as it is shorter.
            let raw: Vec<f64> = (0..COUNT + 1 - period).map(|i| 2.0 * half[i + period - period / 2] - full[i]).collect();
            let mut expected = [0.0; COUNT];
            let root = f64::from(period as u32).sqrt().floor() as i32;
            core.wma(0, raw.len() - 1, &raw, root, &mut expected).unwrap();
            let mut hull = Hull::new(period).unwrap();
            check(&candles, (hull.warmup(), closes[0]), [&expected], |candle| Some([hull.update(candle.close())?]));
        }
    }

    #[test]
    fn a_straight_line_is_followed_without_lag() {
        // Over 4: the half's centre lags by 1/3, the whole's by 1, so that their combination leads by 1/3, which is what the root's lags.
        let mut hull = Hull::new(4).unwrap();
        let answers: Vec<_> = (0..8).map(|i| hull.update(f64::from(i))).collect();
        assert_eq!(hull.warmup(), 5);
        assert!(answers[..4].iter().all(Option::is_none));
        for (index, answer) in answers.iter().enumerate().skip(4) {
            assert!((answer.unwrap() - index as f64).abs() < 1e-12, "{answers:?}");
        }
    }
}
