//! Bollinger Bands.

use super::deviation::{Deviation, Moments};
use super::error::checked_period;
use super::{IndicatorError, is_usable};

/// Moving average with bands at a number of standard deviations on both sides.
///
/// Matches TA-Lib `BBANDS` with a simple average. The deviation is that of the population, divided
/// by `period`.
#[derive(Clone, Debug)]
pub struct Bollinger {
    deviations: f64,
    window: Deviation,
}

/// The three lines of a [`Bollinger`], in price units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BollingerBands {
    /// Mean plus the deviations.
    pub upper: f64,
    /// Mean.
    pub middle: f64,
    /// Mean minus the deviations.
    pub lower: f64,
}

impl Bollinger {
    /// Creates bands over `period` values at `deviations` on both sides.
    ///
    /// Usually 20 and 2.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`] below 2; [`IndicatorError::ChangeDeviations`] outside (0,
    /// 1000].
    pub fn new(period: usize, deviations: f64) -> Result<Self, IndicatorError> {
        let period = checked_period("bollinger", period, 2)?;
        if !(deviations > 0.0 && deviations <= 1_000.0) {
            return Err(IndicatorError::ChangeDeviations { deviations });
        }
        Ok(Self { deviations, window: Deviation::new(period) })
    }

    /// Processes the next value, usually a close; `None` during warm-up.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<BollingerBands> {
        if !is_usable(value) {
            return None;
        }
        let Moments { mean: middle, deviation } = self.window.update(value)?;
        let distance = self.deviations * deviation;
        Some(BollingerBands { upper: middle + distance, middle, lower: middle - distance })
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
    use crate::indicator::reference::check;
    use crate::testkit::random_walk;

    #[test]
    fn values_are_those_of_ta_lib() {
        let columns = ["bollinger_upper", "bollinger_middle", "bollinger_lower"];
        let bollinger = || Bollinger::new(20, 2.0).unwrap();
        check(columns, bollinger, Bollinger::warmup, |bollinger, candle| {
            bollinger.update(candle.close()).map(|bands| [bands.upper, bands.middle, bands.lower])
        });
    }

    #[test]
    fn the_deviation_is_the_populations() {
        // Mean of 2, 4, 4, 4, 5, 5, 7, 9 is 5, the population's deviation 2 (the sample's would be 2.14).
        let mut bollinger = Bollinger::new(8, 1.5).unwrap();
        let last = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(|value| bollinger.update(value))[7].unwrap();
        for (line, expected) in [(last.upper, 8.0), (last.middle, 5.0), (last.lower, 2.0)] {
            assert!((line - expected).abs() < 1e-12, "{last:?}");
        }
    }

    #[test]
    fn the_bands_meet_where_nothing_has_moved_for_a_window() {
        let mut bollinger = Bollinger::new(46, 2.5).unwrap();
        for candle in random_walk(7, 300) {
            bollinger.update(candle.close());
        }
        let last = (0..50).filter_map(|_| bollinger.update(1.1)).last();
        assert_eq!(last, Some(BollingerBands { upper: 1.1, middle: 1.1, lower: 1.1 }));
    }

    #[test]
    fn rounding_errors_of_a_jump_and_of_many_candles_are_lost_again() {
        let mut bollinger = Bollinger::new(20, 1.0).unwrap();
        let mut closes: Vec<f64> = random_walk(9, 300_000).iter().map(Candle::close).collect();
        // A price 1,000 times as high, for one candle and again for one half-way.
        closes.iter_mut().step_by(150_000).for_each(|close| *close *= 1_000.0);
        for (index, close) in closes.iter().enumerate() {
            let Some(bands) = bollinger.update(*close) else { continue };
            let window = &closes[index - 19..=index];
            let mean = window.iter().sum::<f64>() / 20.0;
            let variance = window.iter().map(|close| (close - mean) * (close - mean)).sum::<f64>() / 20.0;
            let (deviation, expected) = (bands.upper - bands.middle, variance.sqrt());
            assert!((deviation - expected).abs() <= 1e-8 * expected, "{index}: {deviation} {expected}");
        }
    }
}
