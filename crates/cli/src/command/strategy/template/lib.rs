//! Your own strategy. The rule below is an example; replace it with your own rule.

use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory, parameters};

parameters! {
    /// Parameters of the strategy. Each parameter has a name, a type, a default and a range.
    pub struct Params {
        /// Smallest move of a candle, as a fraction of its open.
        move_fraction: f64 = 0.001, 0.0..=0.5;
    }
}

/// Strategy that bets on another move in the same direction after a candle with a large move.
pub struct MyStrategy {
    params: Params,
}

impl Strategy for MyStrategy {
    /// Number of candles needed before a signal is meaningful, including the current one.
    fn warmup(&self) -> usize {
        1
    }

    /// Called with every closed candle, in order.
    ///
    /// Keep the text of a signal constant, and add varying numbers with `.with(name, value)`.
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let change = candle.close() / candle.open() - 1.0;
        if change >= self.params.move_fraction {
            Some(Signal::buy("rose").with("change", change))
        } else if change <= -self.params.move_fraction {
            Some(Signal::sell("fell").with("change", change))
        } else {
            None
        }
    }
}

impl StrategyFactory for MyStrategy {
    const NAME: &'static str = "my-strategy";
    /// Version of the rule. Change it whenever the rule changes, so that results of different rules are never mixed.
    const VERSION: &'static str = "0.1.0";
    const ABOUT: &'static str = "Bets that a big candle is followed by another in the same direction.";
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        Ok(Self { params })
    }
}
