//! A factory for a type that is not a strategy.

use candlewick_sdk::{BotContext, BuildError, StrategyFactory};

candlewick_sdk::parameters! {
    pub struct Params {}
}

struct Momentum;

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
