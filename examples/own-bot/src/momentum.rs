//! A strategy of your own: bets that a big candle is followed by another in the same direction.

use candlewick_sdk::indicator::Atr;
use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory, parameters};

parameters! {
    /// What counts as a big candle.
    pub struct Params {
        /// Candles in the average range.
        period: usize = 14, 1..=500;
        /// Smallest move from open to close, in average ranges.
        factor: f64 = 1.5, 0.1..=20.0;
    }
}

/// Follows candles that are bigger than usual.
pub struct Momentum {
    params: Params,
    atr: Atr,
}

impl Strategy for Momentum {
    fn warmup(&self) -> usize {
        self.atr.stable_after()
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let big = self.params.factor * self.atr.update(candle)?;
        let change = candle.close() - candle.open();
        if change > big {
            Some(Signal::buy("rose").with("change", change).with("big", big))
        } else if change < -big {
            Some(Signal::sell("fell").with("change", change).with("big", big))
        } else {
            None
        }
    }
}

impl StrategyFactory for Momentum {
    const NAME: &'static str = "momentum";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Bets that a big candle is followed by another in the same direction.";
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        let problem = |problem| BuildError::Parameters { strategy: Self::NAME, problem };
        let atr = Atr::new(params.period).map_err(|error| problem(error.to_string()))?;
        Ok(Self { params, atr })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::testkit::{bot, conformance, from_closes, random_walk};

    #[test]
    fn a_candle_bigger_than_usual_is_followed() {
        // Ranges 2, 2, then 8 moves Wilder's average over 2 to (2 + 8) / 2 = 5, then 8 again to 6.5.
        let params = Params { period: 2, factor: 1.5 };
        let mut momentum = Momentum::build(params, &bot("BTCUSDT")).unwrap();
        let candles = from_closes(&[20.0, 22.0, 20.0, 28.0, 20.0]);
        let told: Vec<_> = candles.iter().filter_map(|candle| momentum.on_candle(candle)).collect();
        assert_eq!(
            told.iter().map(|signal| signal.reason.to_string()).collect::<Vec<_>>(),
            ["rose change=8 big=7.5"]
        );
    }

    #[test]
    fn it_conforms() {
        let signals = conformance::<Momentum>(&Params::default(), &bot("BTCUSDT"), &random_walk(2, 2_000));
        assert!(signals.expect("a strategy as it should be") > 0);
    }
}
