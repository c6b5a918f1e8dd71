//! A strategy that decides on prices between candle closes.

use candlewick_sdk::{BotContext, BuildError, Candle, Price, Signal, Strategy, StrategyFactory};

candlewick_sdk::parameters! {
    /// None.
    pub(crate) struct NoParams {}
}

pub(crate) struct FirstMove {
    close: Option<f64>,
}

impl Strategy for FirstMove {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.close = Some(candle.close());
        None
    }

    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        let close = self.close.filter(|close| *close != price.value)?;
        self.close = None;
        Some(if price.value > close { Signal::buy("rises") } else { Signal::sell("falls") })
    }
}

impl StrategyFactory for FirstMove {
    const NAME: &'static str = "first-move";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Follows the first price that differs from the last close.";
    const WANTS_PRICES: bool = true;
    type Params = NoParams;

    fn build(_params: NoParams, _bot: &BotContext) -> Result<Self, BuildError> {
        Ok(Self { close: None })
    }
}
