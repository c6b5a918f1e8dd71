//! Follows crossings of a fast and a slow exponential moving average.
//!
//! Example of a strategy that compares a candle with the previous candle. The strategy stores the last comparison, so
//! its warm-up is one candle longer.

use candlewick_sdk::indicator::Ema;
use candlewick_sdk::{
    BotContext, BuildError, Candle, Declaration, DeclaredStrategy, SeriesIndex, SeriesKey, SignalRule,
    StrategyFactory, parameters,
};
use std::cmp::Ordering;

/// Maximum difference between the averages that counts as a rounding error, as a share of the slow average.
const ROUNDING_TOLERANCE: f64 = 1e-12;

parameters! {
    /// Parameters of the two averages.
    pub struct Params {
        /// Number of candles in the fast average, less than in the slow one.
        fast: usize = 9, 1..=500;
        /// Number of candles in the slow average.
        slow: usize = 21, 2..=1000;
    }
}

/// Strategy that buys when the fast average crosses above the slow average and sells when it crosses below.
/// A change from equal averages also counts as a crossing.
#[derive(Clone, Debug)]
pub struct EmaCross {
    params: Params,
    fast: Ema,
    slow: Ema,
    /// Fast and slow averages after the last candle.
    last: Option<(f64, f64)>,
    /// Comparison of the fast and slow averages at the previous candle.
    before: Option<Ordering>,
}

/// Index of the crossing in `Numbers`.
const CROSSING: SeriesIndex = SeriesIndex::new(0);

impl DeclaredStrategy for EmaCross {
    type Numbers = [f64; 1];

    /// Returns the number of candles until the slow average is stable, plus one candle for the comparison.
    fn warmup_candles(&self) -> usize {
        self.slow.warmup() + 1
    }

    /// Returns 1 for an upward crossing, -1 for a downward one, 0 if the averages become equal, otherwise `None`.
    #[inline]
    fn update(&mut self, candle: &Candle) -> Option<[f64; 1]> {
        // Both averages must be updated before `?` can return.
        let (fast, slow) = (self.fast.update(candle.close()), self.slow.update(candle.close()));
        self.last = fast.zip(slow);
        let (fast, slow) = self.last?;
        let to = compare(fast, slow);
        let before = self.before.replace(to)?;
        (to != before).then_some([f64::from(to as i8)])
    }

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
    if (fast - slow).abs() <= ROUNDING_TOLERANCE * slow { Ordering::Equal } else { fast.total_cmp(&slow) }
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
        Some(Declaration::from_strategy(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Strategy;
    use candlewick_sdk::testkit::{bot, check_conformance, from_closes, random_walk, render_signals};

    fn check(closes: &[f64], expected: &[(usize, &str)]) {
        let signals =
            render_signals::<EmaCross>(&Params { fast: 1, slow: 3 }, &bot("BTCUSDT"), &from_closes(closes));
        let signals = signals.iter().map(String::as_str).enumerate().filter(|(_, text)| !text.is_empty());
        assert_eq!(signals.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn signals_only_at_the_candle_of_the_crossing() {
        // Over 1 candle the average is the close. Over 3 it is 12, then moves halfway to each close: 11, 13, 14.5, 11.25, 9.625.
        check(
            &[14.0, 12.0, 10.0, 10.0, 15.0, 16.0, 8.0, 8.0],
            &[(4, "BUY crossed above fast=15 slow=13"), (6, "SELL crossed below fast=8 slow=11.25")],
        );
        // The average is 13 at the three equal closes, and then 14 and 14.
        check(&[14.0, 12.0, 13.0, 13.0, 13.0, 15.0, 14.0], &[(5, "BUY crossed above fast=15 slow=14")]);
    }

    #[test]
    fn flat_prices_give_no_signal() {
        for price in (1..50).map(|n| 0.07 * f64::from(n)) {
            let mut strategy = EmaCross::build(Params::default(), &bot("BTCUSDT")).unwrap();
            assert!(from_closes(&[price; 300]).iter().all(|candle| strategy.on_candle(candle).is_none()));
        }
    }

    #[test]
    fn rejects_fast_period_not_below_slow_period() {
        let error = EmaCross::build(Params { fast: 21, slow: 21 }, &bot("BTCUSDT")).unwrap_err();
        assert_eq!(error.to_string(), "the strategy's parameters: fast = 21 must be below slow = 21");
    }

    #[test]
    fn conforms_with_warmup_of_slow_average_and_one_candle() {
        // The seed takes 21 candles, (20/22)^218 is the first power below 1e-9, and one candle is for the comparison.
        assert_eq!(EmaCross::build(Params::default(), &bot("BTCUSDT")).unwrap().warmup(), 21 + 218 + 1);
        let signals =
            check_conformance::<EmaCross>(&Params::default(), &bot("BTCUSDT"), &random_walk(2, 5_000));
        assert!(signals.unwrap() > 100);
    }
}
