//! Strategy that gives no signals, for bots that trade only on external signals.

use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory, parameters};

parameters! {
    /// No parameters.
    pub struct Params {}
}

#[derive(Clone, Copy, Debug, Default)]
pub struct NoSignals;

impl Strategy for NoSignals {
    fn warmup(&self) -> usize {
        1
    }

    fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
        None
    }

    fn wants_settlements(&self) -> bool {
        false
    }
}

impl StrategyFactory for NoSignals {
    const NAME: &'static str = "none";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Gives no signals, for bots that trade only on external signals.";
    type Params = Params;

    fn build(_: Params, _: &BotContext) -> Result<Self, BuildError> {
        Ok(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::testkit::{bot, check_conformance, random_walk, trending};

    #[test]
    fn conforms_and_never_signals() {
        for candles in [random_walk(2, 5_000), trending(3, 5_000)] {
            assert_eq!(
                check_conformance::<NoSignals>(&Params::default(), &bot("BTCUSDT"), &candles).unwrap(),
                0
            );
        }
    }
}
