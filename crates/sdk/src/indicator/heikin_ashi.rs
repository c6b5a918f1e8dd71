//! Heikin-Ashi candles.

use super::is_usable;
use crate::{Candle, Interval, Ohlcv};

/// Smoothed candles that show the trend.
///
/// Source: Valcu, *Using the Heikin-Ashi Technique*, 2004.
///
/// - Close: mean of the candle's open, high, low and close.
/// - Open: midpoint of open and close of the previous Heikin-Ashi candle, at first of the candle itself.
/// - High and low: extremes of the candle's own and of the new open and close.
/// - Time and volume: those of the candle.
///
/// Nothing was traded at these prices.
#[derive(Clone, Debug, Default)]
pub struct HeikinAshi {
    previous: Option<Candle>,
}

impl HeikinAshi {
    /// Creates the indicator, which has no settings.
    pub const fn new() -> Self {
        Self { previous: None }
    }

    /// Processes the next candle and returns its Heikin-Ashi candle.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<Candle> {
        if !is_usable(candle.high()) {
            return None;
        }
        let before = self.previous.as_ref().unwrap_or(candle);
        let open = f64::midpoint(before.open(), before.close());
        let close = (candle.open() + candle.high() + candle.low() + candle.close()) / 4.0;
        let (high, low) = (candle.high().max(open).max(close), candle.low().min(open).min(close));
        let numbers = Ohlcv { open, high, low, close, volume: candle.volume() };
        let smooth = Candle::new(candle.time(), Interval::SECOND, numbers).ok()?;
        self.previous = Some(smooth);
        Some(smooth)
    }

    /// Returns the number of candles until the first value: 1.
    pub const fn warmup(&self) -> usize {
        1
    }

    /// Returns the number of candles until the start of the series is forgotten.
    ///
    /// 31, as each open contains half of the previous one.
    pub const fn stable_after(&self) -> usize {
        31
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indicator::reference::check_stability;
    use crate::testkit::{from_closes, random_walk};

    #[test]
    fn candles_are_those_of_the_closed_form() {
        let candles = random_walk(3, 60);
        let means: Vec<f64> =
            candles.iter().map(|c| (c.open() + c.high() + c.low() + c.close()) / 4.0).collect();
        let mut heikin_ashi = HeikinAshi::new();
        for (index, candle) in candles.iter().enumerate() {
            let smooth = heikin_ashi.update(candle).unwrap();
            // The open is all earlier closes, each with half the weight of the one after it, and the first open with what is left.
            let weight = |steps: usize| 0.5_f64.powi(steps as i32);
            let first = f64::midpoint(candles[0].open(), candles[0].close()) * weight(index);
            let open =
                first + (0..index).map(|earlier| means[earlier] * weight(index - earlier)).sum::<f64>();
            assert!(
                (smooth.open() - open).abs() < 1e-10 && smooth.close() == means[index],
                "{index}: {smooth:?}"
            );
            assert_eq!(smooth.high(), candle.high().max(smooth.open()).max(smooth.close()));
            assert_eq!(smooth.low(), candle.low().min(smooth.open()).min(smooth.close()));
            assert_eq!((smooth.time(), smooth.volume()), (candle.time(), candle.volume()));
        }
    }

    #[test]
    fn a_later_start_agrees_once_stable() {
        check_stability(HeikinAshi::new, HeikinAshi::stable_after, 1.0, |heikin_ashi, candle| {
            heikin_ashi.update(candle).map(|smooth| smooth.open())
        });
    }

    #[test]
    fn opens_and_closes_by_hand() {
        // 8 to 8, 8 to 12, 12 to 8: closes 8, 10, 10; opens 8, 8, 9.
        let mut heikin_ashi = HeikinAshi::new();
        let answers =
            from_closes(&[8.0, 12.0, 8.0]).iter().map(|c| heikin_ashi.update(c).unwrap()).collect::<Vec<_>>();
        let numbers: Vec<_> = answers.iter().map(|c| [c.open(), c.high(), c.low(), c.close()]).collect();
        assert_eq!(numbers, [[8.0; 4], [8.0, 12.0, 8.0, 10.0], [9.0, 12.0, 8.0, 10.0]]);
    }
}
