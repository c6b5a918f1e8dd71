//! Relative strength index, as Wilder defined it.

use super::error::checked_period;
use super::smoothing::Smoothing;
use super::{IndicatorError, is_usable};

/// The share of gains in all movement, 0 to 100, gains and losses smoothed as Wilder did (TA-Lib `RSI`).
///
/// Without any movement so far there is neither gain nor loss: the value is then 50. (TA-Lib answered 0 up to
/// 0.8.1 and answers 50 since.)
///
/// The RSI of the wrapped crate is not used, although over 2 x period - 1 it tends to Wilder's: it starts from a
/// gain and a loss of 0.1, which at prices near 1 drowns the first hundred candles.
#[derive(Clone, Debug)]
pub struct Rsi {
    /// Zero before the first value, whose change is left out.
    previous: f64,
    /// Gains and losses.
    movements: Smoothing<2>,
}

impl Rsi {
    /// An index over `period` changes, from 2; the usual period is 14.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let movements = Smoothing::wilder(checked_period("rsi", period, 2)?).leaving_out_first();
        Ok(Self { previous: 0.0, movements })
    }

    /// Takes the next value, usually a close.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<f64> {
        if !is_usable(value) {
            return None;
        }
        let change = value - std::mem::replace(&mut self.previous, value);
        // Without a branch: whether a candle rose cannot be predicted.
        let gain = change.max(0.0);
        let [gain, loss] = self.movements.update_all([gain, gain - change])?;
        let movement = gain + loss;
        Some(if movement > 0.0 { 100.0 * (gain / movement) } else { still() })
    }

    /// Candles until the first value: `period` + 1, as the first candle has no change.
    pub fn warmup(&self) -> usize {
        self.movements.warmup() + 1
    }

    /// Candles until the value no longer depends on where the series began: about 21.7 x period (295 for 14).
    pub fn stable_after(&self) -> usize {
        self.warmup() + self.movements.memory()
    }
}

/// The value without any movement. Apart, so that it is jumped to: chosen afterwards, it makes every other value wait.
#[cold]
fn still() -> f64 {
    50.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::reference::{check, check_stability};

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
    fn without_movement_it_is_neutral_and_one_sided_it_is_at_an_end() {
        for (step, expected) in [(0.0, 50.0), (0.1, 100.0), (-0.1, 0.0)] {
            let mut rsi = Rsi::new(3).unwrap();
            let last = (0..9).fold(None, |_, i| rsi.update(5.0 + f64::from(i) * step));
            assert_eq!(last, Some(expected));
        }
    }
}
