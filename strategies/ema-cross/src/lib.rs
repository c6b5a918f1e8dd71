//! Follows the crossing of a fast and a slow exponential moving average.
//!
//! A model for a strategy that compares a candle with the one before it: the state that it keeps is the last
//! comparison, and one more candle of warm-up.

use candlewick_sdk::indicator::Ema;
use candlewick_sdk::{
    BotContext, BuildError, Candle, Declaration, DeclaredStrategy, SeriesKey, SeriesPlace, SignalRule,
    StrategyFactory, parameters,
};
use std::cmp::Ordering;

/// Averages closer than this share of the slow one are equal: on prices that stand still the two differ by
/// rounding alone, and rounding is not a crossing.
const ROUNDING: f64 = 1e-12;

parameters! {
    /// The two averages.
    pub struct Params {
        /// Candles in the fast average; fewer than in the slow one.
        fast: usize = 9, 1..=500;
        /// Candles in the slow average.
        slow: usize = 21, 2..=1000;
    }
}

/// Buys at the candle whose close takes the fast average above the slow one, sells at the candle whose close
/// takes it below. Averages that were equal at the candle before count as crossed.
#[derive(Clone, Debug)]
pub struct EmaCross {
    params: Params,
    fast: Ema,
    slow: Ema,
    /// Both after the last candle.
    last: Option<(f64, f64)>,
    /// Where the fast average stood against the slow one at the candle before.
    before: Option<Ordering>,
}

/// The place of the crossing among the strategy's numbers.
const CROSSING: SeriesPlace = SeriesPlace::new(0);

impl DeclaredStrategy for EmaCross {
    type Numbers = [f64; 1];

    /// Until the slow average no longer depends on where the series began, and one more candle to compare with.
    fn warm_after(&self) -> usize {
        self.slow.stable_after() + 1
    }

    /// The crossing itself is the number: 1 at a candle that crosses above, -1 at one that crosses below, none elsewhere.
    #[inline]
    fn update(&mut self, candle: &Candle) -> Option<[f64; 1]> {
        // Both are updated before either may end the function.
        let (fast, slow) = (self.fast.update(candle.close()), self.slow.update(candle.close()));
        self.last = fast.zip(slow);
        let (fast, slow) = self.last?;
        let to = compare(fast, slow);
        let before = self.before.replace(to)?;
        (to != before).then_some([f64::from(to as i8)])
    }

    /// Sets share it that differ in their expiry alone.
    fn series(&self) -> Vec<SeriesKey> {
        vec![SeriesKey::new("crossing", &[self.params.fast as f64, self.params.slow as f64])]
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
        self.last.into_iter().flat_map(|(fast, slow)| [("fast", fast), ("slow", slow)])
    }
}

fn compare(fast: f64, slow: f64) -> Ordering {
    if (fast - slow).abs() <= ROUNDING * slow { Ordering::Equal } else { fast.total_cmp(&slow) }
}

impl StrategyFactory for EmaCross {
    const NAME: &'static str = "ema-cross";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Follows the crossing of a fast and a slow exponential moving average.";
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        let Params { fast, slow } = params.clone();
        if fast >= slow {
            return Err(format!("fast = {fast} must be below slow = {slow}").into());
        }
        let (fast, slow) = (Ema::new(fast)?, Ema::new(slow)?);
        Ok(Self { params, fast, slow, last: None, before: None })
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

    fn check(closes: &[f64], expected: &[(usize, &str)]) {
        let signals =
            signals::<EmaCross>(&Params { fast: 1, slow: 3 }, &bot("BTCUSDT"), &from_closes(closes));
        let signals = signals.iter().map(String::as_str).enumerate().filter(|(_, text)| !text.is_empty());
        assert_eq!(signals.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_signal_comes_at_the_candle_of_the_crossing_and_not_after() {
        // Over 1 the average is the close. Over 3 it is 12, then half-way to each close: 11, 13, 14.5, 11.25, 9.625.
        check(
            &[14.0, 12.0, 10.0, 10.0, 15.0, 16.0, 8.0, 8.0],
            &[(4, "BUY crossed above fast=15 slow=13"), (6, "SELL crossed below fast=8 slow=11.25")],
        );
        // The average is 13, 13 and 13 at the equal closes, then 14 and 14.
        check(&[14.0, 12.0, 13.0, 13.0, 13.0, 15.0, 14.0], &[(5, "BUY crossed above fast=15 slow=14")]);
    }

    #[test]
    fn prices_that_stand_still_cross_nothing() {
        for price in (1..50).map(|n| 0.07 * f64::from(n)) {
            let mut strategy = EmaCross::build(Params::default(), &bot("BTCUSDT")).unwrap();
            assert!(from_closes(&[price; 300]).iter().all(|candle| strategy.on_candle(candle).is_none()));
        }
    }

    #[test]
    fn a_fast_average_that_is_not_faster_is_refused() {
        let error = EmaCross::build(Params { fast: 21, slow: 21 }, &bot("BTCUSDT")).unwrap_err();
        assert_eq!(error.to_string(), "the strategy's parameters: fast = 21 must be below slow = 21");
    }

    #[test]
    fn it_conforms_and_is_warm_a_candle_after_the_slow_average() {
        // 21 candles of seed; (20/22)^218 is the first power below 1e-9; one candle to compare with.
        assert_eq!(EmaCross::build(Params::default(), &bot("BTCUSDT")).unwrap().warmup(), 21 + 218 + 1);
        let signals = conformance::<EmaCross>(&Params::default(), &bot("BTCUSDT"), &random_walk(2, 5_000));
        assert!(signals.unwrap() > 100);
    }
}
