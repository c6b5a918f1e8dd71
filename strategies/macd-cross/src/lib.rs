//! Follows the crossing of the MACD and its signal line.
//!
//! A model for a strategy on an indicator of several lines: what it compares is the histogram, and the state that it keeps is on which
//! side of zero that was.

use candlewick_sdk::indicator::{Macd, MacdLines};
use candlewick_sdk::{
    BotContext, BuildError, Candle, Declaration, DeclaredStrategy, SeriesKey, SeriesPlace, SignalRule,
    StrategyFactory, parameters,
};
use std::cmp::Ordering;

/// Lines closer than this share of the price are equal: on prices that stand still they differ by rounding alone, and rounding is
/// not a crossing.
const ROUNDING: f64 = 1e-12;

parameters! {
    /// The three averages.
    pub struct Params {
        /// Candles in the fast average; fewer than in the slow one.
        fast: usize = 12, 1..=500;
        /// Candles in the slow average.
        slow: usize = 26, 2..=1000;
        /// Candles in the average of their distance.
        signal: usize = 9, 1..=500;
    }
}

/// Buys at the candle whose close takes the MACD above its signal line, sells at the candle whose close takes it below. Lines
/// that were equal at the candle before count as crossed.
#[derive(Clone, Debug)]
pub struct MacdCross {
    params: Params,
    macd: Macd,
    /// The lines after the last candle.
    last: Option<MacdLines>,
    /// Where the MACD stood against its signal line at the candle before.
    before: Option<Ordering>,
}

/// The place of the crossing among the strategy's numbers.
const CROSSING: SeriesPlace = SeriesPlace::new(0);

impl DeclaredStrategy for MacdCross {
    type Numbers = [f64; 1];

    /// Until the lines no longer depend on where the series began, and one more candle to compare with.
    fn warm_after(&self) -> usize {
        self.macd.stable_after() + 1
    }

    /// The crossing itself is the number: 1 at a candle that crosses above, -1 at one that crosses below, none elsewhere.
    #[inline]
    fn update(&mut self, candle: &Candle) -> Option<[f64; 1]> {
        self.last = self.macd.update(candle.close());
        let histogram = self.last?.histogram;
        let is_rounding = histogram.abs() <= ROUNDING * candle.close();
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
        Some(Declaration::of(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Strategy;
    use candlewick_sdk::testkit::{bot, conformance, from_closes, random_walk, signals};

    /// Averages over 1 and 3 candles, their distance smoothed over 2.
    const SHORT: Params = Params { fast: 1, slow: 3, signal: 2 };

    #[test]
    fn a_signal_comes_at_the_candle_of_the_crossing_and_not_after() {
        // The average over 3 is 12, then half-way to each close: 11, 13, 14.5, 11.25. The close less it: -2, -1, 2, 1.5, -3.25. That
        // smoothed over 2 begins at -1.5 and then moves two thirds of the way: 5/6, 23/18, -1.7407.
        let candles = from_closes(&[14.0, 12.0, 10.0, 10.0, 15.0, 16.0, 8.0]);
        let signals = signals::<MacdCross>(&SHORT, &bot("BTCUSDT"), &candles);
        // It stands above from the first comparison on (-1 over -1.5), and stays there until the last candle.
        assert!(signals[..6].iter().all(String::is_empty));
        assert_eq!(signals[6], "SELL crossed below macd=-3.25 signal=-1.740741");
    }

    #[test]
    fn prices_that_stand_still_cross_nothing() {
        for price in (1..50).map(|n| 0.07 * f64::from(n)) {
            let mut strategy = MacdCross::build(Params::default(), &bot("BTCUSDT")).unwrap();
            assert!(from_closes(&[price; 300]).iter().all(|candle| strategy.on_candle(candle).is_none()));
        }
    }

    #[test]
    fn a_fast_average_that_is_not_faster_is_refused() {
        let error = MacdCross::build(Params { fast: 26, ..Params::default() }, &bot("BTCUSDT")).unwrap_err();
        assert_eq!(error.to_string(), "the strategy's parameters: fast = 26 must be below slow = 26");
    }

    #[test]
    fn it_conforms_and_is_warm_a_candle_after_the_lines() {
        assert_eq!(MacdCross::build(Params::default(), &bot("BTCUSDT")).unwrap().warmup(), 397 + 1);
        let signals = conformance::<MacdCross>(&Params::default(), &bot("BTCUSDT"), &random_walk(2, 5_000));
        assert!(signals.unwrap() > 100);
    }
}
