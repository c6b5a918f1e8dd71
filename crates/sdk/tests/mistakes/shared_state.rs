//! A strategy that is not `Send`.

use candlewick_sdk::{Candle, Signal, Strategy};
use std::cell::Cell;
use std::rc::Rc;

struct Counts {
    seen: Rc<Cell<usize>>,
}

impl Strategy for Counts {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
        self.seen.set(self.seen.get() + 1);
        None
    }
}

fn main() {}
