//! Relative strength index, as defined by Wilder.

use super::error::checked_period;
use super::smoothing::Smoothing;
use super::{IndicatorError, LARGEST, is_usable};

/// Share of gains in all price changes, 0 to 100.
///
/// Gains and losses have Wilder's smoothing (TA-Lib `RSI`). The value is 50 without any movement so
/// far, as in TA-Lib after 0.8.1 (before, it was 0).
///
/// The wrapped crate's RSI is not used, although over 2 x period - 1 it converges to Wilder's: it
/// starts with a gain and a loss of 0.1, which dominates the first hundred candles at prices near
/// 1.
#[derive(Clone, Debug)]
pub struct Rsi {
    /// Zero before the first value, whose change is skipped.
    previous: f64,
    /// Largest value that needs smoothing only, negative until warm.
    ///
    /// One comparison checks both.
    largest: f64,
    movements: Smoothing<2>,
}

impl Rsi {
    /// Creates an index over `period` changes, at least 2; usually 14.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let movements = Smoothing::wilder(checked_period("rsi", period, 2)?).leaving_out_first();
        Ok(Self { previous: 0.0, largest: -1.0, movements })
    }

    /// Processes the next value, usually a close; `None` during warm-up.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        let change = value - self.previous;
        // Without a branch: whether a candle rose cannot be predicted.
        let movements = [change, -change].map(|change| change.max(0.0));
        let [gain, loss] = if value.abs() <= self.largest {
            self.previous = value;
            self.movements.smooth(movements)
        } else {
            if !is_usable(value) {
                return None;
            }
            self.previous = value;
            let first = self.movements.update_all(movements)?;
            self.largest = LARGEST;
            first
        };
        let movement = gain + loss;
        Some(if movement > 0.0 { 100.0 * (gain / movement) } else { still() })
    }

    /// Returns the number of candles until the first value: `period` + 1.
    ///
    /// The first candle has no change.
    pub fn warmup(&self) -> usize {
        self.movements.warmup() + 1
    }

    /// Returns the number of candles until the start of the series is forgotten.
    ///
    /// About 21.7 x period (295 for 14).
    pub fn stable_after(&self) -> usize {
        self.warmup() + self.movements.memory()
    }
}

/// Value without any movement.
///
/// A separate function, so that it compiles to a jump: a conditional select would delay every other
/// value.
#[cold]
fn still() -> f64 {
    50.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::reference::{check, check_stability};
    use crate::testkit::random_walk;
    use std::cmp::Ordering;

    #[test]
    fn values_are_those_of_ta_lib() {
        let rsi = || Rsi::new(14).unwrap();
        check(["rsi"], rsi, Rsi::warmup, |rsi, candle| rsi.update(candle.close()).map(|value| [value]));
    }

    #[test]
    fn a_later_start_agrees_once_stable() {
        let rsi = || Rsi::new(14).unwrap();
        check_stability(rsi, Rsi::stable_after, 100.0, |rsi, candle| rsi.update(candle.close()));
    }

    #[test]
    fn gains_and_losses_are_shared_out_by_hand() {
        // Changes +1, -1, +2, -4 over 2: gain 0.5, 1.25, 0.625; loss 0.5, 0.25, 2.125.
        let mut rsi = Rsi::new(2).unwrap();
        let answers = [10.0, 11.0, 10.0, 12.0, 8.0].map(|value| rsi.update(value));
        let expected = 100.0 * (0.625 / 2.75);
        assert_eq!(answers, [None, None, Some(50.0), Some(100.0 * (1.25 / 1.5)), Some(expected)]);
    }

    #[test]
    fn what_cannot_be_used_is_left_out_before_the_first_value_and_after_it() {
        const PERIOD: usize = 3;
        let closes: Vec<f64> = random_walk(7, 40).iter().map(crate::Candle::close).collect();
        let mut rsi = Rsi::new(PERIOD).unwrap();
        let weight = 1.0 / PERIOD as f64;
        let mut means = [0.0; 2];
        for (index, close) in closes.iter().enumerate() {
            for junk in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e101, -1e101] {
                assert_eq!(rsi.update(junk), None, "{junk} before {index}");
            }
            let answer = rsi.update(*close);
            let Some(before) = index.checked_sub(1) else { continue };
            let change = close - closes[before];
            for (mean, movement) in means.iter_mut().zip([change.max(0.0), (-change).max(0.0)]) {
                // The first value is the simple mean of as many as the period has.
                *mean = match index.cmp(&PERIOD) {
                    Ordering::Less => *mean + movement,
                    Ordering::Equal => (*mean + movement) / PERIOD as f64,
                    Ordering::Greater => weight * movement + (1.0 - weight) * *mean,
                };
            }
            let [gain, loss] = means;
            assert_eq!(answer, (index >= PERIOD).then(|| 100.0 * (gain / (gain + loss))), "{index}");
        }
    }

    #[test]
    fn without_movement_it_is_neutral_and_one_sided_it_is_at_an_end() {
        for (step, expected) in [(0.0, 50.0), (0.1, 100.0), (-0.1, 0.0)] {
            let mut rsi = Rsi::new(3).unwrap();
            let last = (0..9).fold(None, |_, i| rsi.update(5.0 + f64::from(i) * step));
            assert_eq!(last, Some(expected));
        }
    }
}
