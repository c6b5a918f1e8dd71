//! Z-score.

use super::deviation::{Deviation, Moments};
use super::error::checked_period;
use super::{IndicatorError, is_usable};

/// Distance of the value from the mean of the last values, in standard deviations.
///
/// The mean covers the last `period` values including the current one. The deviation is that of the
/// population (TA-Lib `SMA` and `STDDEV`). The absolute value is at most the square root of
/// `period - 1`, and 0 if there is no deviation.
///
/// A value is outside a Bollinger band at `n` deviations if its z-score is beyond `n`.
#[derive(Clone, Debug)]
pub struct ZScore {
    window: Deviation,
}

impl ZScore {
    /// Creates a score over `period` values, at least 2; usually 20.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        Ok(Self { window: Deviation::new(checked_period("z-score", period, 2)?) })
    }

    /// Processes the next value, usually a close; `None` during warm-up.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        if !is_usable(value) {
            return None;
        }
        let Moments { mean, deviation } = self.window.update(value)?;
        // Rounding alone is no distance, and could be many times as large as a deviation that is rounding, too.
        let bound = ((self.window.period() - 1) as f64).sqrt();
        Some(if deviation > 0.0 { ((value - mean) / deviation).clamp(-bound, bound) } else { 0.0 })
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
        fn figures_are_those_of_the_ports_mean_and_deviation(
            seed: u64, exponent in -6..6_i32, period in 5..60_usize,
        ) {
            // Where prices stand still the port's deviation is its rounding errors: the walk stands still at its end only.
            let candles = series(seed, 10_f64.powi(exponent), 340);
            let candles = &candles[..340];
            let closes: Vec<f64> = candles.iter().map(Candle::close).collect();
            let mut expected = [0.0; COUNT];
            for (index, window) in closes.windows(period).enumerate() {
                let mean = window.iter().sum::<f64>() / period as f64;
                let squares = window.iter().map(|close| (close - mean) * (close - mean)).sum::<f64>();
                expected[index] = (window[period - 1] - mean) / (squares / period as f64).sqrt();
            }
            let mut z_score = ZScore::new(period).unwrap();
            // 1e-9 of the price is more of a deviation: the scale says how much.
            check(candles, (z_score.warmup(), 1_000.0), [&expected], |candle| Some([z_score.update(candle.close())?]));

            let (mut mean, mut deviation, core) = ([0.0; COUNT], [0.0; COUNT], Core::new());
            let end = END - 60;
            core.sma(0, end, &closes, period as i32, &mut mean).unwrap();
            core.stddev(0, end, &closes, period as i32, 1.0, &mut deviation).unwrap();
            let mut z_score = ZScore::new(period).unwrap();
            for (index, close) in closes.iter().enumerate() {
                let Some(score) = z_score.update(*close) else { continue };
                let (mean, deviation) = (mean[index + 1 - period], deviation[index + 1 - period]);
                // The port subtracts squares: its deviation is right to some 1e-7 of the price.
                prop_assert!((score * deviation - (close - mean)).abs() < 1e-6 * close, "{index}: {score}");
            }
        }
    }

    #[test]
    fn the_score_is_in_deviations_by_hand() {
        // Mean 5 and deviation 2: 9 lies two of them above. Then a 2 goes and a 2 comes.
        let mut z_score = ZScore::new(8).unwrap();
        let answers = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0, 2.0].map(|value| z_score.update(value));
        assert!(answers[..7].iter().all(Option::is_none));
        assert!(
            (answers[7].unwrap() - 2.0).abs() < 1e-12 && (answers[8].unwrap() + 1.5).abs() < 1e-12,
            "{answers:?}"
        );
    }

    #[test]
    fn prices_that_stand_still_have_no_distance() {
        let mut z_score = ZScore::new(5).unwrap();
        let last = [1.3, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1].iter().map(|value| z_score.update(*value)).last();
        assert_eq!(last, Some(Some(0.0)));
    }
}
