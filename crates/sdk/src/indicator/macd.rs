//! Moving average convergence/divergence.

use super::error::checked_period;
use super::smoothing::Smoothing;
use super::{IndicatorError, are_usable, is_usable};

/// Difference of a fast and a slow exponential average, and its smoothed line.
///
/// Matches TA-Lib `MACD`: both averages have their first value at the same candle, so the fast
/// average starts `slow - fast` candles late.
#[derive(Clone, Debug)]
pub struct Macd {
    skipped: usize,
    fast: Smoothing,
    slow: Smoothing,
    signal: Smoothing,
}

/// The three lines of a [`Macd`], in price units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MacdLines {
    /// Fast average minus slow average.
    pub macd: f64,
    /// Exponential average of `macd`.
    pub signal: f64,
    /// `macd` minus `signal`.
    pub histogram: f64,
}

impl Macd {
    /// Creates averages over `fast`, `slow` and `signal` values; usually 12, 26 and 9.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`]; [`IndicatorError::OrderPeriods`] unless `fast` is below
    /// `slow`.
    pub fn new(fast: usize, slow: usize, signal: usize) -> Result<Self, IndicatorError> {
        for period in [fast, slow, signal] {
            checked_period("macd", period, 1)?;
        }
        if fast >= slow {
            return Err(IndicatorError::OrderPeriods { indicator: "macd", fast, slow });
        }
        let [fast, slow, signal] = [fast, slow, signal].map(Smoothing::exponential);
        Ok(Self { skipped: slow.warmup() - fast.warmup(), fast, slow, signal })
    }

    /// Processes the next value, usually a close; `None` during warm-up.
    #[inline]
    pub fn update(&mut self, value: f64) -> Option<MacdLines> {
        if !is_usable(value) {
            return None;
        }
        let slow = self.slow.update(value);
        if self.skipped > 0 {
            self.skipped -= 1;
            return None;
        }
        let macd = self.fast.update(value)? - slow?;
        let signal = self.signal.update(macd)?;
        Some(MacdLines { macd, signal, histogram: macd - signal })
    }

    /// Updates with several values at once.
    ///
    /// Writes the lines of [`update`](Self::update) in their order, one result per value, with NaN
    /// for `None`.
    #[doc(hidden)]
    #[inline]
    pub fn update_together(&mut self, values: &[f64], answers: [&mut [f64]; 3]) {
        let [macds, signals, histograms] = answers.map(|answers| &mut answers[..values.len()]);
        let is_warm = [&self.fast, &self.slow, &self.signal].into_iter().all(Smoothing::has_answered);
        if !(is_warm && are_usable(values)) {
            for (place, value) in values.iter().enumerate() {
                let lines = self.update(*value);
                [macds[place], signals[place], histograms[place]] =
                    lines.map_or([f64::NAN; 3], |lines| [lines.macd, lines.signal, lines.histogram]);
            }
            return;
        }
        let Self { fast, slow, signal, .. } = self;
        let [mut by_fast, mut by_slow, mut by_signal] = [&*fast, slow, signal].map(Smoothing::mean);
        for (place, value) in values.iter().enumerate() {
            by_fast = fast.next_mean(fast.share(*value), by_fast);
            by_slow = slow.next_mean(slow.share(*value), by_slow);
            let macd = by_fast - by_slow;
            by_signal = signal.next_mean(signal.share(macd), by_signal);
            (macds[place], signals[place], histograms[place]) = (macd, by_signal, macd - by_signal);
        }
        fast.set_mean(by_fast);
        slow.set_mean(by_slow);
        signal.set_mean(by_signal);
    }

    /// Returns the number of candles until the first value: `slow` + `signal` - 1.
    pub fn warmup(&self) -> usize {
        self.slow.warmup() + self.signal.warmup() - 1
    }

    /// Returns the number of candles until the start of the series is forgotten.
    ///
    /// 397 for 12, 26 and 9.
    pub fn stable_after(&self) -> usize {
        self.warmup() + self.slow.memory() + self.signal.memory()
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
        let macd = || Macd::new(12, 26, 9).unwrap();
        check(["macd", "macd_signal", "macd_histogram"], macd, Macd::warmup, |macd, candle| {
            macd.update(candle.close()).map(|lines| [lines.macd, lines.signal, lines.histogram])
        });
    }

    #[test]
    fn many_values_together_are_answered_as_one_by_one() {
        let closes: Vec<f64> = random_walk(1, 300).iter().map(Candle::close).collect();
        let mut values = closes.clone();
        (values[150], values[240]) = (f64::NAN, f64::INFINITY);
        for (values, at_once) in [(&closes, 64), (&closes, 7), (&values, 64), (&values, 1)] {
            let mut together = Macd::new(12, 26, 9).unwrap();
            let mut alone = together.clone();
            for values in values.chunks(at_once) {
                let mut lines = [0; 3].map(|_| vec![0.0; values.len()]);
                together.update_together(values, lines.each_mut().map(|line| &mut line[..]));
                for (place, value) in values.iter().enumerate() {
                    let expected = alone.update(*value);
                    let expected =
                        expected.map_or([f64::NAN; 3], |own| [own.macd, own.signal, own.histogram]);
                    assert_eq!(
                        lines.each_ref().map(|line| line[place].to_bits()),
                        expected.map(f64::to_bits)
                    );
                }
            }
        }
    }

    #[test]
    fn a_later_start_agrees_once_stable() {
        let macd = || Macd::new(12, 26, 9).unwrap();
        check_stability(macd, Macd::stable_after, 1.0, |macd, candle| {
            macd.update(candle.close()).map(|lines| lines.signal)
        });
        // 34 + 270 + 93: (25/27)^270 and 0.8^93 are the first powers below 1e-9.
        assert_eq!(macd().stable_after(), 397);
    }
}
