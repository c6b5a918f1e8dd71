//! Donchian channel.

use super::error::checked_period;
use super::extremes::{Extremes, RecentExtremes};
use super::{IndicatorError, is_usable};
use crate::Candle;

/// Highest high and lowest low of the last candles, including the current one.
///
/// Donchian's rule of 1960, as in Kaufman, *Trading Systems and Methods*; TA-Lib `MAX` of highs and
/// `MIN` of lows. A breakout is a close beyond the channel of the previous candle: the current one
/// contains its own close.
#[derive(Clone, Debug)]
pub struct Donchian {
    window: RecentExtremes,
}

/// The three lines of a [`Donchian`], in price units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DonchianChannel {
    /// Highest high.
    pub upper: f64,
    /// Midpoint of the other two lines.
    pub middle: f64,
    /// Lowest low.
    pub lower: f64,
}

impl Donchian {
    /// Creates a channel over `period` candles, at least 1; usually 20.
    ///
    /// # Errors
    /// [`IndicatorError::ChangePeriod`].
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        Ok(Self { window: RecentExtremes::new(checked_period("donchian", period, 1)?) })
    }

    /// Processes the next candle and returns the channel, `None` during warm-up.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<DonchianChannel> {
        if !is_usable(candle.high()) {
            return None;
        }
        let Extremes { highest: upper, lowest: lower } = self.window.update(Extremes::of(candle))?;
        Some(DonchianChannel { upper, middle: f64::midpoint(upper, lower), lower })
    }

    /// Returns the number of candles until the first value: `period`.
    ///
    /// Older candles have no influence.
    pub fn warmup(&self) -> usize {
        self.window.period()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::oracle::{COUNT, END, check, series};
    use crate::testkit::from_closes;
    use proptest::prelude::*;
    use ta_lib::Core;

    proptest! {
        #[test]
        fn figures_are_those_of_the_port(
            seed: u64, exponent in -6..6_i32, flat in 0..300_usize, period in 2..60_usize,
        ) {
            let candles = series(seed, 10_f64.powi(exponent), flat);
            let lane = |price: fn(&Candle) -> f64| candles.iter().map(price).collect::<Vec<f64>>();
            let (mut upper, mut lower, core) = ([0.0; COUNT], [0.0; COUNT], Core::new());
            core.max(0, END, &lane(Candle::high), period as i32, &mut upper).unwrap();
            core.min(0, END, &lane(Candle::low), period as i32, &mut lower).unwrap();
            let mut donchian = Donchian::new(period).unwrap();
            // The extremes are prices themselves: they are equal, not near.
            check(&candles, (donchian.warmup(), 0.0), [&upper, &lower], |candle| {
                donchian.update(candle).map(|channel| [channel.upper, channel.lower])
            });
        }
    }

    #[test]
    fn an_extreme_leaves_with_its_candle() {
        let mut donchian = Donchian::new(2).unwrap();
        // Each candle opens at the close before it, so the last two span three closes.
        let answers: Vec<_> =
            from_closes(&[5.0, 9.0, 7.0, 6.0, 2.0]).iter().map(|candle| donchian.update(candle)).collect();
        let channel = |upper, middle, lower| Some(DonchianChannel { upper, middle, lower });
        let expected = [
            None,
            channel(9.0, 7.0, 5.0),
            channel(9.0, 7.0, 5.0),
            channel(9.0, 7.5, 6.0),
            channel(7.0, 4.5, 2.0),
        ];
        assert_eq!(answers, expected);
    }
}
