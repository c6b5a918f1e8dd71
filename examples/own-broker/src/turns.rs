//! A strategy that uses prices between candle closes.

use candlewick_sdk::{BotContext, BuildError, Candle, Price, Signal, Strategy, StrategyFactory, parameters};

parameters! {
    /// Parameters of the turns.
    pub struct Params {
        /// Minimum number of prices in one direction before a turn.
        count: usize = 5, 1..=60;
    }
}

/// Follows a price that turns after moving in one direction.
pub struct PriceTurns {
    count: usize,
    last: Option<f64>,
    /// Number of rising prices in a row, negative for falling ones.
    run: isize,
}

impl Strategy for PriceTurns {
    fn warmup(&self) -> usize {
        1
    }

    fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
        None
    }

    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        let last = self.last.replace(price.value)?;
        let step = if price.value > last { 1 } else { -1 };
        let before = std::mem::replace(&mut self.run, step);
        if before.signum() == step {
            self.run = before + step;
            return None;
        }
        let has_turned = before.unsigned_abs() >= self.count;
        has_turned.then(|| if step > 0 { Signal::buy("turned up") } else { Signal::sell("turned down") })
    }
}

impl StrategyFactory for PriceTurns {
    const NAME: &'static str = "price-turns";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Follows a price that turns after moving in one direction.";
    const WANTS_PRICES: bool = true;
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        Ok(Self { count: params.count, last: None, run: 0 })
    }
}
