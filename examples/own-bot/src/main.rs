//! Program with two strategies and all commands of Candlewick.

mod band_return;

use band_return::BandReturn;
use candlewick_cli::{App, CountingAllocator};
use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory, parameters};
use std::process::ExitCode;

parameters! {
    /// Parameters of three in a row.
    pub struct Params {
        /// Candles of one colour in a row before a signal.
        count: usize = 3, 1..=20;
    }
}

/// Bets against a run of candles of one colour.
pub struct ThreeInARow {
    count: usize,
    /// Length of the run: positive if rising, negative if falling.
    run: isize,
}

impl Strategy for ThreeInARow {
    fn warmup(&self) -> usize {
        self.count
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let colour = if candle.close() > candle.open() { 1 } else { -1 };
        self.run = if self.run.signum() == colour { self.run + colour } else { colour };
        let due = self.run.unsigned_abs() >= self.count;
        due.then(|| if colour > 0 { Signal::sell("rising run") } else { Signal::buy("falling run") })
    }
}

impl StrategyFactory for ThreeInARow {
    const NAME: &'static str = "three-in-a-row";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Bets against a run of candles of one colour.";
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        Ok(Self { count: params.count, run: 0 })
    }
}

/// Lets `strategy check` detect memory growth; omit it if you use another allocator.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    App::with_builtin_strategies().with_strategy::<ThreeInARow>().with_strategy::<BandReturn>().run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bets_against_a_run_of_one_colour() {
        candlewick_sdk::testkit::assert_signals::<ThreeInARow>(
            &Params { count: 3 },
            "close   signal
             100
             101
             102
             103     SELL rising run
             102
             101
             3x 100  BUY falling run",
        );
    }
}
