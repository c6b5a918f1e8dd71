//! Williams %R.

use super::error::checked_period;
use super::extremes::{Extremes, RecentExtremes};
use super::{IndicatorError, is_usable};
use crate::Candle;

/// Distance of the close below the highest high, relative to the range, 0 to -100.
///
/// 0 is at the high of the last candles, -100 at their low (Williams 1973, TA-Lib `WILLR`). A range
/// of zero width counts as 0, as in TA-Lib.
#[derive(Clone, Debug)]
pub struct WilliamsR {
    window: RecentExtremes,
}

impl WilliamsR {
    /// Creates an oscillator over `period` candles, at least 1; usually 14.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        Ok(Self { window: RecentExtremes::new(checked_period("williams %r", period, 1)?) })
    }

    /// Processes the next candle and returns the value, `None` during warm-up.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<f64> {
        if !is_usable(candle.high()) {
            return None;
        }
        let Extremes { highest, lowest } = self.window.update(Extremes::of(candle))?;
        let range = highest - lowest;
        Some(if range > 0.0 { 100.0 * ((candle.close() - highest) / range) } else { 0.0 })
    }

    /// Returns the number of candles until the first value: `period`.
    ///
    /// Older candles have no influence.
    pub fn warmup(&self) -> usize {
        self.window.period()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::oracle::{COUNT, END, check, series};
    use crate::testkit::from_closes;
    use proptest::prelude::*;
    use ta_lib::Core;

    proptest! {
        #[test]
        fn figures_are_those_of_the_port(
            seed: u64, exponent in -6..6_i32, flat in 0..300_usize, period in 2..60_usize,
        ) {
            let candles = series(seed, 10_f64.powi(exponent), flat);
            let lane = |price: fn(&Candle) -> f64| candles.iter().map(price).collect::<Vec<f64>>();
            let (high, low, close) = (lane(Candle::high), lane(Candle::low), lane(Candle::close));
            let mut expected = [0.0; COUNT];
            Core::new().willr(0, END, &high, &low, &close, period as i32, &mut expected).unwrap();
            let mut williams = WilliamsR::new(period).unwrap();
            check(&candles, (williams.warmup(), 100.0), [&expected], |candle| Some([williams.update(candle)?]));
        }
    }

    #[test]
    fn the_high_is_0_and_the_low_is_minus_100() {
        let mut williams = WilliamsR::new(3).unwrap();
        // Three candles span 5 to 9, at last 5 to 8.
        let answers: Vec<_> = from_closes(&[5.0, 9.0, 8.0, 6.0, 5.0, 5.75])
            .iter()
            .map(|candle| williams.update(candle))
            .collect();
        assert_eq!(answers, [None, None, Some(-25.0), Some(-75.0), Some(-100.0), Some(-75.0)]);
        let still: Vec<_> =
            from_closes(&[5.0; 9]).iter().filter_map(|candle| williams.update(candle)).collect();
        assert_eq!(still.last(), Some(&0.0));
    }
}
