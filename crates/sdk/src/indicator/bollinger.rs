//! Bollinger bands.

use super::error::checked_period;
use super::{IndicatorError, is_usable};
use ta::indicators::BollingerBands as Bands;
use ta::{Next, Reset};

/// The mean of the last `period` values with a band at some standard deviations on either side (TA-Lib `BBANDS`
/// with a simple average; the deviation is the population's, divided by `period`).
///
/// The wrapped deviation is kept up from value to value and never loses its rounding errors, so where all values
/// of the window are equal it is started afresh: the bands then meet exactly.
#[derive(Clone, Debug)]
pub struct Bollinger {
    period: usize,
    missing: usize,
    bands: Bands,
    last: f64,
    /// How many times the last value has come in a row.
    repeated: usize,
}

/// The three lines of a [`Bollinger`], in the unit of the price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BollingerBands {
    /// The mean plus the deviations.
    pub upper: f64,
    /// The mean.
    pub middle: f64,
    /// The mean minus the deviations.
    pub lower: f64,
}

impl Bollinger {
    /// Bands over `period` values, from 2, at `deviations` on either side; usually 20 and 2.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`]; [`IndicatorError::ChangeDeviations`] unless above 0 and up to 1000.
    pub fn new(period: usize, deviations: f64) -> Result<Self, IndicatorError> {
        let period = checked_period("bollinger", period, 2)?;
        if !(deviations > 0.0 && deviations <= 1_000.0) {
            return Err(IndicatorError::ChangeDeviations { deviations });
        }
        let bands = Bands::new(period, deviations).expect("the period is not 0");
        Ok(Self { period, missing: period, bands, last: f64::NAN, repeated: 0 })
    }

    /// Takes the next value, usually a close.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<BollingerBands> {
        if !is_usable(value) {
            return None;
        }
        self.repeated = if value == self.last { self.repeated + 1 } else { 1 };
        self.last = value;
        if self.repeated == self.period {
            // As many updates as equal values came before: constant time on the whole.
            self.bands.reset();
            for _ in 1..self.period {
                self.bands.next(value);
            }
        }
        let bands = self.bands.next(value);
        // The wrapped bands answer from their first value on, over what they have.
        self.missing = self.missing.saturating_sub(1);
        let bands = BollingerBands { upper: bands.upper, middle: bands.average, lower: bands.lower };
        (self.missing == 0).then_some(bands)
    }

    /// Candles until the first value: `period`. Values depend on nothing older.
    pub fn warmup(&self) -> usize {
        self.period
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
