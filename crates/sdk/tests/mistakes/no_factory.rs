//! A strategy without its factory.

use candlewick_sdk::{Candle, Registry, Signal, Strategy};

struct Momentum;

impl Strategy for Momentum {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        (candle.close() > candle.open()).then(|| Signal::buy("rose"))
    }
}

fn main() {
    let _ = Registry::default().with::<Momentum>();
}
