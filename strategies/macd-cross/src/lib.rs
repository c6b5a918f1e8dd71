//! Follows crossings of the MACD and its signal line.
//!
//! Example of a strategy for an indicator with several lines. The strategy compares the histogram with zero and
//! remembers the previous result.

use candlewick_sdk::indicator::{Macd, MacdLines};
use candlewick_sdk::{
    BotContext, BuildError, Candle, Declaration, DeclaredStrategy, SeriesIndex, SeriesKey, SignalRule,
    StrategyFactory, parameters,
};
use std::cmp::Ordering;

/// Maximum difference between the lines that counts as a rounding error, as a share of the price.
const ROUNDING_TOLERANCE: f64 = 1e-12;

parameters! {
    /// Parameters of the three averages.
    pub struct Params {
        /// Number of candles in the fast average, less than in the slow one.
        fast: usize = 12, 1..=500;
        /// Number of candles in the slow average.
        slow: usize = 26, 2..=1000;
        /// Number of candles in the signal line.
        signal: usize = 9, 1..=500;
    }
}

/// Strategy that buys when the MACD crosses above its signal line, and sells when the MACD crosses below it.
/// A change from equal lines to unequal lines also counts as a crossing.
#[derive(Clone, Debug)]
pub struct MacdCross {
    params: Params,
    macd: Macd,
    /// MACD and signal line after the last candle.
    last: Option<MacdLines>,
    /// Comparison of the MACD and its signal line at the previous candle.
    before: Option<Ordering>,
}

/// Index of the crossing in `Numbers`.
const CROSSING: SeriesIndex = SeriesIndex::new(0);

impl DeclaredStrategy for MacdCross {
    type Numbers = [f64; 1];

    /// Returns the number of candles until the lines are stable, plus one candle for the comparison.
    fn warmup_candles(&self) -> usize {
        self.macd.warmup() + 1
    }

    /// Returns 1 for an upward crossing, -1 for a downward one, 0 if the lines become equal, otherwise `None`.
    #[inline]
    fn update(&mut self, candle: &Candle) -> Option<[f64; 1]> {
        self.last = self.macd.update(candle.close());
        let histogram = self.last?.histogram;
        let is_rounding = histogram.abs() <= ROUNDING_TOLERANCE * candle.close();
        let to = if is_rounding { Ordering::Equal } else { histogram.total_cmp(&0.0) };
        let before = self.before.replace(to)?;
        (to != before).then_some([f64::from(to as i8)])
    }

    fn series(&self) -> Vec<SeriesKey> {
        let Params { fast, slow, signal } = self.params;
        vec![SeriesKey::new("macd crossing", &[fast as f64, slow as f64, signal as f64])]
    }

    #[inline]
    fn rules(&self) -> impl AsRef<[SignalRule]> {
        [
            SignalRule::buy("crossed above", CROSSING.above(0.0)),
            SignalRule::sell("crossed below", CROSSING.below(0.0)),
        ]
    }

    #[inline]
    fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)> {
        self.last.into_iter().flat_map(|lines| [("macd", lines.macd), ("signal", lines.signal)])
    }
}

impl StrategyFactory for MacdCross {
    const NAME: &'static str = "macd-cross";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Follows the crossing of the MACD and its signal line.";
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        let Params { fast, slow, signal } = params;
        if fast >= slow {
            return Err(format!("fast = {fast} must be below slow = {slow}").into());
        }
        let macd = Macd::new(fast, slow, signal)?;
        Ok(Self { params, macd, last: None, before: None })
    }

    fn declaration(&self) -> Option<Declaration> {
        Some(Declaration::from_strategy(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Strategy;
    use candlewick_sdk::testkit::{bot, check_conformance, from_closes, random_walk, render_signals};

    /// Averages over 1 and 3 candles, and a signal line over 2 values.
    const SHORT: Params = Params { fast: 1, slow: 3, signal: 2 };

    #[test]
    fn signals_only_at_the_candle_of_the_crossing() {
        // The average over 3 is 12, then moves halfway to each close: 11, 13, 14.5, 11.25. The MACD is -2, -1, 2, 1.5, -3.25. Its
        // signal line starts at -1.5 and moves two thirds of the way: 5/6, 23/18, -1.7407.
        let candles = from_closes(&[14.0, 12.0, 10.0, 10.0, 15.0, 16.0, 8.0]);
        let signals = render_signals::<MacdCross>(&SHORT, &bot("BTCUSDT"), &candles);
        // The MACD is above its signal line from the first comparison (-1 and -1.5) until the last candle.
        assert!(signals[..6].iter().all(String::is_empty));
        assert_eq!(signals[6], "SELL crossed below macd=-3.25 signal=-1.740741");
    }

    #[test]
    fn flat_prices_give_no_signal() {
        for price in (1..50).map(|n| 0.07 * f64::from(n)) {
            let mut strategy = MacdCross::build(Params::default(), &bot("BTCUSDT")).unwrap();
            assert!(from_closes(&[price; 300]).iter().all(|candle| strategy.on_candle(candle).is_none()));
        }
    }

    #[test]
    fn rejects_fast_period_not_below_slow_period() {
        let error = MacdCross::build(Params { fast: 26, ..Params::default() }, &bot("BTCUSDT")).unwrap_err();
        assert_eq!(error.to_string(), "the strategy's parameters: fast = 26 must be below slow = 26");
    }

    #[test]
    fn conforms_with_warmup_of_lines_and_one_candle() {
        assert_eq!(MacdCross::build(Params::default(), &bot("BTCUSDT")).unwrap().warmup(), 397 + 1);
        let signals =
            check_conformance::<MacdCross>(&Params::default(), &bot("BTCUSDT"), &random_walk(2, 5_000));
        assert!(signals.unwrap() > 100);
    }
}
