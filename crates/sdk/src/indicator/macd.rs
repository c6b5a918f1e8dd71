//! Moving average convergence and divergence.

use super::error::checked_period;
use super::smoothing::Smoothing;
use super::{IndicatorError, is_usable};

/// The distance of a fast from a slow exponential average, and that distance smoothed (TA-Lib `MACD`).
///
/// As in TA-Lib, both averages answer first at the slow one's first candle: the fast average starts
/// `slow - fast` candles late.
#[derive(Clone, Debug)]
pub struct Macd {
    /// Candles that the fast average still leaves out.
    skipped: usize,
    fast: Smoothing,
    slow: Smoothing,
    signal: Smoothing,
}

/// The three lines of a [`Macd`], in the unit of the price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MacdLines {
    /// Fast average minus slow average.
    pub macd: f64,
    /// The exponential average of `macd`.
    pub signal: f64,
    /// `macd` minus `signal`.
    pub histogram: f64,
}

impl Macd {
    /// Averages over `fast` and `slow` values, their distance smoothed over `signal`; usually 12, 26 and 9.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`]; [`IndicatorError::OrderPeriods`] unless `fast` is below `slow`.
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

    /// Takes the next value, usually a close.
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

    /// Candles until the first value: `slow` + `signal` - 1.
    pub fn warmup(&self) -> usize {
        self.slow.warmup() + self.signal.warmup() - 1
    }

    /// Candles until the value no longer depends on where the series began (397 for 12, 26 and 9).
    pub fn stable_after(&self) -> usize {
        self.warmup() + self.slow.memory() + self.signal.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::reference::{check, check_stability};

    #[test]
    fn values_are_those_of_ta_lib() {
        let macd = || Macd::new(12, 26, 9).unwrap();
        check(["macd", "macd_signal", "macd_histogram"], macd, Macd::warmup, |macd, candle| {
            macd.update(candle.close()).map(|lines| [lines.macd, lines.signal, lines.histogram])
        });
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
