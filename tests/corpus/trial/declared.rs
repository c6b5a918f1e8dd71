//! Cheats by what a strategy declares of its signals.

use super::cheats::move_ahead;
use crate::NoParams;
use candlewick_cli::App;
use candlewick_sdk::{BotContext, BuildError, Candle, Declaration, Signal, Strategy, StrategyFactory};

/// Buys where the next candle rises and sells where it falls: `EVERYWHERE`, or in its declaration alone.
struct Declares<const EVERYWHERE: bool> {
    before: f64,
}

impl<const EVERYWHERE: bool> Strategy for Declares<EVERYWHERE> {
    fn warmup(&self) -> usize {
        2
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let past = candle.close() / std::mem::replace(&mut self.before, candle.close()) - 1.0;
        let side = if EVERYWHERE { move_ahead(candle, 1) } else { past };
        crate::declare::toward(side, "x")
    }
}

impl<const EVERYWHERE: bool> StrategyFactory for Declares<EVERYWHERE> {
    const NAME: &'static str = if EVERYWHERE { "t-declared-future" } else { "t-declared-other" };
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Of the trial.";
    type Params = NoParams;

    fn build(_: NoParams, _: &BotContext) -> Result<Self, BuildError> {
        Ok(Self { before: 100.0 })
    }

    fn declaration(&self) -> Option<Declaration> {
        let mut declaration = Declaration::new();
        let ahead = declaration.series("change", &[1.0], |candle| Some(move_ahead(candle, 1)));
        Some(declaration.buy_when([ahead.above(0.0)]).sell_when([ahead.below(0.0)]))
    }
}

pub(super) fn add(app: App) -> App {
    app.with_strategy::<Declares<true>>().with_strategy::<Declares<false>>()
}
