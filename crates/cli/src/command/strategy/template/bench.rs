//! Measures the strategy's time per candle and prints the best of several rounds. Run it with `cargo bench`.

use candlewick_sdk::testkit::{bot, random_walk};
use candlewick_sdk::{Strategy, StrategyFactory};
use std::hint::black_box;
use std::time::Instant;

use my_strategy::*;

const CANDLES: u32 = 100_000;
const ROUNDS: u32 = 9;

fn main() {
    let candles = random_walk(1, CANDLES as usize);
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let built = MyStrategy::build(Params::default(), &bot("BTCUSDT"));
        let mut strategy = built.expect("valid defaults");
        let begin = Instant::now();
        for candle in &candles {
            black_box(strategy.on_candle(black_box(candle)));
        }
        best = best.min(begin.elapsed().as_secs_f64() * 1e9 / f64::from(CANDLES));
    }
    println!("my-strategy: {best:.1} ns per candle");
}
