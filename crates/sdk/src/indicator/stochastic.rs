//! Slow stochastic oscillator.

use super::error::checked_period;
use super::{IndicatorError, Sma, is_usable};
use crate::Candle;
use ta::Next;
use ta::indicators::{Maximum, Minimum};

/// Position of the close in the range of the last candles, 0 to 100.
///
/// Smoothed twice with simple averages (TA-Lib `STOCH`).
///
/// A range of zero width counts as 0, as in TA-Lib and pandas-ta. Other libraries use 50 or keep
/// the previous value. A flat market therefore reads as oversold: a strategy that buys then should
/// also require a range, for instance an [`Atr`](super::Atr) above 0.
///
/// An update scans the window if its highest or lowest candle has just left it, otherwise it takes
/// constant time.
#[derive(Clone, Debug)]
pub struct Stochastic {
    period: usize,
    missing: usize,
    highest: Maximum,
    lowest: Minimum,
    k: Sma,
    d: Sma,
}

/// The two lines of a [`Stochastic`], 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StochasticLines {
    /// Smoothed position of the close in the range.
    pub k: f64,
    /// Smoothed `k`.
    pub d: f64,
}

impl Stochastic {
    /// Creates an oscillator over `period` candles, smoothed over `k` and then `d`.
    ///
    /// Usually 14, 3 and 3.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize, k: usize, d: usize) -> Result<Self, IndicatorError> {
        for period in [period, k, d] {
            checked_period("stochastic", period, 1)?;
        }
        let highest = Maximum::new(period).expect("the period is not 0");
        let lowest = Minimum::new(period).expect("the period is not 0");
        Ok(Self { period, missing: period, highest, lowest, k: Sma::new(k)?, d: Sma::new(d)? })
    }

    /// Processes the next candle and returns the lines, `None` during warm-up.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<StochasticLines> {
        if !is_usable(candle.high()) {
            return None;
        }
        let (highest, lowest) = (self.highest.next(candle.high()), self.lowest.next(candle.low()));
        // The wrapped extremes answer from their first value on, over what they have.
        self.missing = self.missing.saturating_sub(1);
        if self.missing > 0 {
            return None;
        }
        let range = highest - lowest;
        let place = if range > 0.0 { (candle.close() - lowest) / range * 100.0 } else { 0.0 };
        // A running mean may stray from the bounds by a rounding error.
        let k = self.k.update(place)?.clamp(0.0, 100.0);
        let d = self.d.update(k)?.clamp(0.0, 100.0);
        Some(StochasticLines { k, d })
    }

    /// Returns the number of candles until the first value: `period` + `k` + `d` - 2.
    ///
    /// Older candles have no influence.
    pub fn warmup(&self) -> usize {
        self.period + self.k.warmup() + self.d.warmup() - 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::reference::check;
    use crate::{Interval, Millis, Ohlcv};

    #[test]
    fn values_are_those_of_ta_lib() {
        let stochastic = || Stochastic::new(14, 3, 3).unwrap();
        check(["stochastic_k", "stochastic_d"], stochastic, Stochastic::warmup, |stochastic, candle| {
            stochastic.update(candle).map(|lines| [lines.k, lines.d])
        });
    }

    #[test]
    fn a_market_that_stands_still_counts_as_0_and_leaves_the_window_again() {
        let candle = |minute: i64, close: f64| {
            let (open, high, low) = (close, close.max(10.0), close.min(10.0));
            let numbers = Ohlcv { open, high, low, close, volume: 0.0 };
            Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
        };
        let mut stochastic = Stochastic::new(2, 1, 2).unwrap();
        let mut lines = |minute, close| stochastic.update(&candle(minute, close));
        assert_eq!((lines(0, 10.0), lines(1, 10.0)), (None, None));
        assert_eq!(lines(2, 10.0), Some(StochasticLines { k: 0.0, d: 0.0 }));
        // At the top of a range of 2.
        assert_eq!(lines(3, 12.0), Some(StochasticLines { k: 100.0, d: 50.0 }));
    }
}
