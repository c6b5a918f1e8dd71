//! Cheats that share what is not theirs alone; each begins by putting it back, so that one run after another is alike.

use crate::declare::{list, toward};
use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

list!(SharedClose, OnlyOneOfUs);

static CLOSE: AtomicU64 = AtomicU64::new(0);

pub(crate) struct SharedClose;

impl Strategy for SharedClose {
    fn warmup(&self) -> usize {
        2
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let before = f64::from_bits(CLOSE.swap(candle.close().to_bits(), Ordering::Relaxed));
        (before > 0.0).then(|| toward(candle.close() - before, "since the last close")).flatten()
    }
}

impl StrategyFactory for SharedClose {
    const NAME: &'static str = "c-shared-close";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Of the corpus.";
    type Params = crate::NoParams;

    fn build(_: crate::NoParams, _: &BotContext) -> Result<Self, BuildError> {
        CLOSE.store(0, Ordering::Relaxed);
        Ok(Self)
    }
}

static ALIVE: AtomicI64 = AtomicI64::new(0);

pub(crate) struct OnlyOneOfUs;

impl Strategy for OnlyOneOfUs {
    fn warmup(&self) -> usize {
        1
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let is_alone = ALIVE.load(Ordering::Relaxed) == 1;
        is_alone.then(|| toward(candle.close() - candle.open(), "goes on")).flatten()
    }
}

impl Drop for OnlyOneOfUs {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

impl StrategyFactory for OnlyOneOfUs {
    const NAME: &'static str = "c-only-one-of-us";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Of the corpus.";
    type Params = crate::NoParams;

    fn build(_: crate::NoParams, _: &BotContext) -> Result<Self, BuildError> {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Ok(Self)
    }
}
