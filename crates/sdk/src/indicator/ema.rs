//! Exponential moving average.

use super::error::checked_period;
use super::smoothing::Smoothing;
use super::{IndicatorError, are_usable, is_usable};
use std::array;

/// Moving average with exponentially decaying weights.
///
/// Each new value has the weight 2 / (period + 1). The first result is the simple mean of the first
/// `period` values (TA-Lib `EMA`).
#[derive(Clone, Debug)]
pub struct Ema {
    smoothing: Smoothing,
}

impl Ema {
    /// Creates an average over `period` values, at least 1.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        Ok(Self { smoothing: Smoothing::exponential(checked_period("ema", period, 1)?) })
    }

    /// Processes the next value, usually a close; `None` during warm-up.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        if is_usable(value) { self.smoothing.update(value) } else { None }
    }

    /// Updates several averages with the same values at once.
    ///
    /// Returns the results of [`update`](Self::update), one per value, with NaN for `None`.
    #[doc(hidden)]
    #[inline]
    pub fn update_together<const COUNT: usize>(
        averages: [&mut Self; COUNT],
        values: &[f64],
        answers: [&mut [f64]; COUNT],
    ) {
        let is_plain = averages.iter().all(|average| average.smoothing.has_answered()) && are_usable(values);
        if !is_plain {
            for (average, answers) in averages.into_iter().zip(answers) {
                let pairs = answers.iter_mut().zip(values);
                pairs.for_each(|(answer, value)| *answer = average.update(*value).unwrap_or(f64::NAN));
            }
            return;
        }
        // Each mean waits for the one before it, and for nothing else.
        let mut answers = answers.map(|answers| &mut answers[..values.len()]);
        for (average, answers) in averages.iter().zip(&mut answers) {
            let pairs = answers.iter_mut().zip(values);
            pairs.for_each(|(answer, value)| *answer = average.smoothing.share(*value));
        }
        let mut means: [f64; COUNT] = array::from_fn(|which| averages[which].smoothing.mean());
        (0..values.len()).for_each(|place| {
            means = array::from_fn(|which| {
                averages[which].smoothing.next_mean(answers[which][place], means[which])
            });
            (0..COUNT).for_each(|which| answers[which][place] = means[which]);
        });
        averages.into_iter().zip(means).for_each(|(average, mean)| average.smoothing.set_mean(mean));
    }

    /// Returns the number of candles until the first value: `period`.
    pub fn warmup(&self) -> usize {
        self.smoothing.warmup()
    }

    /// Returns the number of candles until the start of the series is forgotten.
    ///
    /// `period` + about 10.4 x (period + 1).
    pub fn stable_after(&self) -> usize {
        self.smoothing.warmup() + self.smoothing.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Candle;
    use crate::indicator::reference::{check, check_stability};
    use crate::testkit::random_walk;

    #[test]
    fn values_are_those_of_ta_lib() {
        let ema = || Ema::new(20).unwrap();
        check(["ema"], ema, Ema::warmup, |ema, candle| ema.update(candle.close()).map(|value| [value]));
    }

    #[test]
    fn many_values_together_are_answered_as_one_by_one() {
        let closes: Vec<f64> = random_walk(1, 300).iter().map(Candle::close).collect();
        let mut values = closes.clone();
        (values[150], values[151], values[240]) = (f64::NAN, f64::INFINITY, 1e300);
        for (values, at_once) in [(&closes, 64), (&closes, 7), (&values, 64), (&values, 1)] {
            let [mut one, mut other] = [9, 21].map(|period| Ema::new(period).unwrap());
            let (mut first, mut second) = (one.clone(), other.clone());
            for values in values.chunks(at_once) {
                let (mut fast, mut slow) = (vec![0.0; values.len()], vec![0.0; values.len()]);
                Ema::update_together([&mut one, &mut other], values, [&mut fast, &mut slow]);
                for (place, value) in values.iter().enumerate() {
                    let expected = [&mut first, &mut second].map(|ema| ema.update(*value));
                    let found =
                        [fast[place], slow[place]].map(|found| Some(found).filter(|found| !found.is_nan()));
                    assert_eq!(
                        found.map(|found| found.map(f64::to_bits)),
                        expected.map(|own| own.map(f64::to_bits))
                    );
                }
            }
        }
    }

    #[test]
    fn a_later_start_agrees_once_stable() {
        let ema = || Ema::new(20).unwrap();
        check_stability(ema, Ema::stable_after, 1.0, |ema, candle| ema.update(candle.close()));
    }
}
