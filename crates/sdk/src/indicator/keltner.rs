//! Keltner channel.

use super::error::{checked_multiple, checked_period};
use super::{Atr, Ema, IndicatorError};
use crate::Candle;

/// Average of closes with lines at a multiple of the average true range.
///
/// Keltner's channel of 1960 in today's usual form: exponential average and Wilder's range (TA-Lib
/// `EMA` and `ATR`).
///
/// The wrapped crate's channel differs: it has one period for both, uses typical prices, and starts
/// at the first candle instead of a mean.
#[derive(Clone, Debug)]
pub struct Keltner {
    multiple: f64,
    middle: Ema,
    range: Atr,
}

/// The three lines of a [`Keltner`], in price units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeltnerChannel {
    /// Average plus the ranges.
    pub upper: f64,
    /// Average.
    pub middle: f64,
    /// Average minus the ranges.
    pub lower: f64,
}

impl Keltner {
    /// Creates a channel from the periods of average and range and a multiple.
    ///
    /// `period` closes and `range_period` candles are at least 1; usually 20, 10 and 2.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`]; [`IndicatorError::ChangeMultiple`] outside (0, 1000].
    pub fn new(period: usize, range_period: usize, multiple: f64) -> Result<Self, IndicatorError> {
        for period in [period, range_period] {
            checked_period("keltner", period, 1)?;
        }
        let multiple = checked_multiple("keltner", multiple)?;
        Ok(Self { multiple, middle: Ema::new(period)?, range: Atr::new(range_period)? })
    }

    /// Processes the next candle and returns the channel, `None` during warm-up.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<KeltnerChannel> {
        if !super::is_usable(candle.high()) {
            return None;
        }
        // Both are updated before either may end the function.
        let (middle, range) = (self.middle.update(candle.close()), self.range.update(candle));
        let (middle, distance) = (middle?, self.multiple * range?);
        Some(KeltnerChannel { upper: middle + distance, middle, lower: middle - distance })
    }

    /// Returns the number of candles until the first value.
    ///
    /// The larger of `period` and `range_period` + 1.
    pub fn warmup(&self) -> usize {
        self.middle.warmup().max(self.range.warmup())
    }

    /// Returns the number of candles until the start of the series is forgotten.
    ///
    /// 228 for 20 and 10.
    pub fn stable_after(&self) -> usize {
        self.middle.stable_after().max(self.range.stable_after())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::oracle::{COUNT, END, check, series};
    use crate::indicator::reference::check_stability;
    use proptest::prelude::*;
    use ta_lib::Core;

    proptest! {
        #[test]
        fn figures_are_those_of_the_ports_average_and_range(
            seed: u64, exponent in -6..6_i32, flat in 0..300_usize, period in 2..60_usize, more in 1..60_usize,
        ) {
            let candles = series(seed, 10_f64.powi(exponent), flat);
            let lane = |price: fn(&Candle) -> f64| candles.iter().map(price).collect::<Vec<f64>>();
            let (high, low, close) = (lane(Candle::high), lane(Candle::low), lane(Candle::close));
            let (mut ema, mut atr, core) = ([0.0; COUNT], [0.0; COUNT], Core::new());
            core.ema(0, END, &close, period as i32, &mut ema).unwrap();
            core.atr(0, END, &high, &low, &close, more as i32, &mut atr).unwrap();
            let mut keltner = Keltner::new(period, more, 2.5).unwrap();
            let warmup = period.max(more + 1);
            let line = |side: f64| -> Vec<f64> {
                (warmup..=COUNT).map(|seen| ema[seen - period] + side * atr[seen - more - 1]).collect()
            };
            let (upper, middle, lower) = (line(2.5), line(0.0), line(-2.5));
            check(&candles, (warmup, close[0]), [&upper, &middle, &lower], |candle| {
                keltner.update(candle).map(|channel| [channel.upper, channel.middle, channel.lower])
            });
            prop_assert_eq!(keltner.warmup(), warmup);
        }
    }

    #[test]
    fn a_later_start_agrees_once_stable() {
        let keltner = || Keltner::new(20, 10, 2.0).unwrap();
        check_stability(keltner, Keltner::stable_after, 100.0, |keltner, candle| {
            keltner.update(candle).map(|channel| channel.upper)
        });
        assert_eq!(keltner().stable_after(), 228);
    }
}
