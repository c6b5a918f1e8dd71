//! The slow stochastic oscillator.

use super::error::checked_period;
use super::{IndicatorError, Sma, is_usable};
use crate::Candle;
use ta::Next;
use ta::indicators::{Maximum, Minimum};

/// Where the close lies in the range of the last candles, 0 to 100, smoothed once and once more by simple
/// averages (TA-Lib `STOCH`).
///
/// A range without any width counts as 0, as in TA-Lib.
///
/// An update looks through the window when its highest or lowest candle has just left it, else it takes constant
/// time.
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
    /// The close's place in the range, smoothed.
    pub k: f64,
    /// `k`, smoothed.
    pub d: f64,
}

impl Stochastic {
    /// The range of `period` candles, smoothed over `k` and then `d`; usually 14, 3 and 3.
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

    /// Takes the next candle.
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

    /// Candles until the first value: `period` + `k` + `d` - 2. Values depend on nothing older.
    pub fn warmup(&self) -> usize {
        self.period + self.k.warmup() + self.d.warmup() - 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::reference::check;

    #[test]
    fn values_are_those_of_ta_lib() {
        let stochastic = || Stochastic::new(14, 3, 3).unwrap();
        check(["stochastic_k", "stochastic_d"], stochastic, Stochastic::warmup, |stochastic, candle| {
            stochastic.update(candle).map(|lines| [lines.k, lines.d])
        });
    }
}
