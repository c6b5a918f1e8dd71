//! Indicators based on the standard deviation: Bollinger Bands and z-score.

use super::{IndicatorError, check_period, is_usable};

/// Number of windows (`period` values each) after which the sums are recomputed, to limit rounding errors.
const WINDOWS_PER_REFRESH: usize = 32;
/// Minimum sum of squares as a fraction of its peak. Smaller sums are mostly rounding errors and are recomputed.
const MIN_FRACTION_OF_PEAK_SQUARES: f64 = 1e-6;

/// Mean and population standard deviation of the last `period` values. Not taken from the `ta` crate, because its
/// rounding errors exceed 1e-9 of the price after a price jump or a million candles.
#[derive(Clone, Debug)]
pub(super) struct Deviation {
    window: Box<[f64]>,
    next: usize,
    missing: usize,
    mean: f64,
    squares: f64,
    peak_squares: f64,
    fresh_for: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moments {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl Deviation {
    pub(super) fn new(period: usize) -> Self {
        let window = vec![0.0; period].into_boxed_slice();
        Self { window, next: 0, missing: period, mean: 0.0, squares: 0.0, peak_squares: 0.0, fresh_for: 0 }
    }

    #[inline]
    pub(super) fn update(&mut self, value: f64) -> Option<Moments> {
        let oldest = std::mem::replace(&mut self.window[self.next], value);
        self.next = if self.next + 1 < self.window.len() { self.next + 1 } else { 0 };
        if self.missing > 0 {
            self.missing -= 1;
            if self.missing > 0 {
                return None;
            }
            self.refresh();
        } else {
            self.replace(oldest, value);
        }
        Some(Moments { mean: self.mean, deviation: (self.squares / self.window.len() as f64).sqrt() })
    }

    /// Replaces the oldest value in the mean and the sum of squares (Welford's method).
    #[inline]
    fn replace(&mut self, oldest: f64, newest: f64) {
        let (change, mean) = (newest - oldest, self.mean);
        self.mean += change / self.window.len() as f64;
        self.squares += change * (newest - self.mean + oldest - mean);
        self.peak_squares = self.peak_squares.max(self.squares);
        self.fresh_for = self.fresh_for.saturating_sub(1);
        if self.fresh_for == 0 || self.squares < MIN_FRACTION_OF_PEAK_SQUARES * self.peak_squares {
            self.refresh();
        }
    }

    /// Recomputes the sums relative to one of the values, so that equal values have a deviation of 0.
    fn refresh(&mut self) {
        let (period, origin) = (self.window.len(), self.window[0]);
        self.mean = origin + self.window.iter().map(|value| value - origin).sum::<f64>() / period as f64;
        self.squares = self.window.iter().map(|value| (value - self.mean).powi(2)).sum();
        self.peak_squares = self.squares;
        self.fresh_for = WINDOWS_PER_REFRESH * period;
    }

    pub(super) fn period(&self) -> usize {
        self.window.len()
    }
}

/// Moving average with an upper and a lower band, each a multiple of the standard deviation away.
/// Matches TA-Lib `BBANDS` with a simple average. The population standard deviation is used (divisor `period`).
#[derive(Clone, Debug)]
pub struct Bollinger {
    deviations: f64,
    window: Deviation,
}

/// The three values of [`Bollinger`] bands at one candle, in price units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BollingerBands {
    /// Mean plus `deviations` standard deviations.
    pub upper: f64,
    /// Mean of the last `period` values.
    pub middle: f64,
    /// Mean minus `deviations` standard deviations.
    pub lower: f64,
}

impl Bollinger {
    /// Creates bands at `deviations` (usually 2) standard deviations from the mean of `period` (usually 20) values.
    /// Fails if `period` is less than 2, or `deviations` is outside (0, 1000].
    pub fn new(period: usize, deviations: f64) -> Result<Self, IndicatorError> {
        let period = check_period("bollinger", period, 2)?;
        if !(deviations > 0.0 && deviations <= 1_000.0) {
            return Err(IndicatorError::InvalidDeviations { deviations });
        }
        Ok(Self { deviations, window: Deviation::new(period) })
    }

    /// Processes the next value, usually a close. Returns `None` before the first value.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<BollingerBands> {
        if !is_usable(value) {
            return None;
        }
        let Moments { mean: middle, deviation } = self.window.update(value)?;
        let distance = self.deviations * deviation;
        Some(BollingerBands { upper: middle + distance, middle, lower: middle - distance })
    }

    /// Returns `period`, the number of candles until the first result. A result uses only the last `period` values.
    pub fn warmup(&self) -> usize {
        self.window.period()
    }
}

/// Distance of the value from the mean of the last values, in standard deviations.
///
/// The mean covers the last `period` values, including the current value. The population standard deviation is used
/// (TA-Lib `SMA` and `STDDEV`). The absolute score is at most the square root of `period - 1`. The score is 0 if all
/// values are equal. A value is outside Bollinger bands at `n` deviations if its score is above `n` or below `-n`.
#[derive(Clone, Debug)]
pub struct ZScore {
    window: Deviation,
}

impl ZScore {
    /// Creates a z-score over `period` values. The period is at least 2, usually 20.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        Ok(Self { window: Deviation::new(check_period("z-score", period, 2)?) })
    }

    /// Processes the next value, usually a close. Returns `None` before the first value.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        if !is_usable(value) {
            return None;
        }
        let Moments { mean, deviation } = self.window.update(value)?;
        // If the distance and the deviation are only rounding errors, the quotient may exceed the bound.
        let bound = ((self.window.period() - 1) as f64).sqrt();
        Some(if deviation > 0.0 { ((value - mean) / deviation).clamp(-bound, bound) } else { 0.0 })
    }

    /// Returns `period`, the number of candles until the first result. A result uses only the last `period` values.
    pub fn warmup(&self) -> usize {
        self.window.period()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Candle;
    use crate::indicator::tests::{COUNT, END, check, series};
    use crate::testkit::random_walk;
    use proptest::prelude::*;
    use ta_lib::Core;

    #[test]
    fn bands_meet_without_movement() {
        let mut bollinger = Bollinger::new(46, 2.5).unwrap();
        for candle in random_walk(7, 300) {
            bollinger.update(candle.close());
        }
        let last = (0..50).filter_map(|_| bollinger.update(1.1)).last();
        assert_eq!(last, Some(BollingerBands { upper: 1.1, middle: 1.1, lower: 1.1 }));
    }

    #[test]
    fn removes_rounding_errors_of_jumps_and_long_runs() {
        let mut bollinger = Bollinger::new(20, 1.0).unwrap();
        let mut closes: Vec<f64> = random_walk(9, 300_000).iter().map(Candle::close).collect();
        // The price rises to 1,000 times its level at one candle, and again halfway through the series.
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

    proptest! {
        #[test]
        fn values_agree_with_port(
            seed: u64, exponent in -6..6_i32, period in 5..60_usize,
        ) {
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
            // An error of 1e-9 of the price is a larger share of the deviation. The scale accounts for this.
            check(candles, (z_score.warmup(), 1_000.0), [&expected], |candle| Some([z_score.update(candle.close())?]));

            let (mut mean, mut deviation, core) = ([0.0; COUNT], [0.0; COUNT], Core::new());
            let end = END - 60;
            core.sma(0, end, &closes, period as i32, &mut mean).unwrap();
            core.stddev(0, end, &closes, period as i32, 1.0, &mut deviation).unwrap();
            let mut z_score = ZScore::new(period).unwrap();
            for (index, close) in closes.iter().enumerate() {
                let Some(score) = z_score.update(*close) else { continue };
                let (mean, deviation) = (mean[index + 1 - period], deviation[index + 1 - period]);
                // The Rust port subtracts squares, so its deviation is only accurate to about 1e-7 of the price.
                prop_assert!((score * deviation - (close - mean)).abs() < 1e-6 * close, "{index}: {score}");
            }
        }
    }

    #[test]
    fn flat_prices_have_no_distance() {
        let mut z_score = ZScore::new(5).unwrap();
        let last = [1.3, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1].iter().map(|value| z_score.update(*value)).last();
        assert_eq!(last, Some(Some(0.0)));
    }
}
