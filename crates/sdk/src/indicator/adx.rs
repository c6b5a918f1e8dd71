//! Average directional index, as defined by Wilder.

use super::atr::true_range;
use super::error::checked_period;
use super::smoothing::Smoothing;
use super::{IndicatorError, is_usable};
use crate::Candle;

/// Minimum sum of the directional indicators for a direction (as in TA-Lib).
const NO_DIRECTION: f64 = 1e-14;

/// Trend strength from 0 to 100 with its directional parts.
///
/// Matches TA-Lib `ADX`, `PLUS_DI` and `MINUS_DI`. As in TA-Lib, a candle without a direction
/// leaves the index unchanged.
#[derive(Clone, Debug)]
pub struct Adx {
    previous: Option<Candle>,
    plus: WilderSum,
    minus: WilderSum,
    ranges: WilderSum,
    index: Smoothing,
    last: Option<f64>,
}

/// The three lines of an [`Adx`], 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdxLines {
    /// Trend strength, regardless of its direction.
    pub adx: f64,
    /// Upward movement as a share of the true range.
    pub plus_di: f64,
    /// Downward movement as a share of the true range.
    pub minus_di: f64,
}

/// Wilder's running sum.
///
/// The first `period - 1` values are added up. Each later one replaces 1 / period of the sum.
#[derive(Clone, Debug)]
struct WilderSum {
    period: usize,
    missing: usize,
    sum: f64,
}

impl WilderSum {
    fn new(period: usize) -> Self {
        Self { period, missing: period - 1, sum: 0.0 }
    }

    #[inline]
    fn update(&mut self, value: f64) -> Option<f64> {
        if self.missing > 0 {
            self.missing -= 1;
            self.sum += value;
            return None;
        }
        self.sum += value - self.sum / self.period as f64;
        Some(self.sum)
    }
}

impl Adx {
    /// Creates an index over `period` candles, at least 2; usually 14.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let index = Smoothing::wilder(checked_period("adx", period, 2)?);
        let sum = WilderSum::new(period);
        Ok(Self { previous: None, plus: sum.clone(), minus: sum.clone(), ranges: sum, index, last: None })
    }

    /// Processes the next candle and returns the lines, `None` during warm-up.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<AdxLines> {
        if !is_usable(candle.high()) {
            return None;
        }
        let previous = self.previous.replace(*candle)?;
        let (up, down) = (candle.high() - previous.high(), previous.low() - candle.low());
        let plus = self.plus.update(if up > down && up > 0.0 { up } else { 0.0 });
        let minus = self.minus.update(if down > up && down > 0.0 { down } else { 0.0 });
        let range = self.ranges.update(true_range(candle, previous.close()));
        let (plus, minus, range) = (plus?, minus?, range?);
        let share = |sum: f64| if range > 0.0 { 100.0 * (sum / range) } else { 0.0 };
        let (plus_di, minus_di) = (share(plus), share(minus));
        let both = plus_di + minus_di;
        if both >= NO_DIRECTION {
            self.last = self.index.update(100.0 * ((plus_di - minus_di).abs() / both));
        } else if self.last.is_none() {
            // While the first mean is made, a candle without direction counts as an index of 0.
            self.last = self.index.update(0.0);
        }
        self.last.map(|adx| AdxLines { adx, plus_di, minus_di })
    }

    /// Returns the number of candles until the first value: 2 x `period`.
    pub fn warmup(&self) -> usize {
        2 * self.index.warmup()
    }

    /// Returns the number of candles until the start of the series is forgotten.
    ///
    /// About 43.4 x period (588 for 14).
    pub fn stable_after(&self) -> usize {
        self.warmup() + 2 * self.index.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::reference::{check, check_stability};
    use crate::testkit::from_closes;

    #[test]
    fn values_are_those_of_ta_lib() {
        let adx = || Adx::new(14).unwrap();
        check(["adx", "plus_di", "minus_di"], adx, Adx::warmup, |adx, candle| {
            adx.update(candle).map(|lines| [lines.adx, lines.plus_di, lines.minus_di])
        });
    }

    #[test]
    fn a_later_start_agrees_once_stable() {
        let adx = || Adx::new(14).unwrap();
        check_stability(adx, Adx::stable_after, 100.0, |adx, candle| {
            adx.update(candle).map(|lines| lines.adx)
        });
        assert_eq!(adx().stable_after(), 588);
    }

    #[test]
    fn candles_without_direction_leave_the_index_as_it_was() {
        // Upward movement alone, then candles that span the same range again and again: the directional
        // indicators fade out, until neither shows.
        let closes = (1..=10).chain((0..200).map(|i| 11 - i % 2)).map(f64::from).collect::<Vec<_>>();
        let mut adx = Adx::new(2).unwrap();
        let last = from_closes(&closes).iter().filter_map(|candle| adx.update(candle)).last().unwrap();
        assert!((last.adx - 100.0).abs() < 1e-9 && last.plus_di < NO_DIRECTION, "{last:?}");
    }
}
