//! Your own binary: every command of `candlewick`, with two more strategies.

mod band_return;

use band_return::BandReturn;
use candlewick_cli::{App, CountingAllocator};
use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory, parameters};
use std::process::ExitCode;

parameters! {
    /// Parameters of the run.
    pub struct Params {
        /// Number of candles of one colour before a bet on the other.
        count: usize = 3, 1..=20;
    }
}

/// Bets against a run of candles of one colour.
pub struct ThreeInARow {
    count: usize,
    /// Number of rising candles in a row, negative for falling ones.
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

/// Lets `strategy check` measure memory. Remove it if you have your own allocator.
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
