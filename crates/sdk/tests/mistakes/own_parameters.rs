//! Parameters declared without `parameters!`.

use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory};

struct Params {
    period: usize,
}

struct Momentum;

impl Strategy for Momentum {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        (candle.close() > candle.open()).then(|| Signal::buy("rose"))
    }
}

impl StrategyFactory for Momentum {
    const NAME: &'static str = "momentum";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Follows.";
    type Params = Params;

    fn build(_: Params, _: &BotContext) -> Result<Self, BuildError> {
        Ok(Self)
    }
}

fn main() {}
