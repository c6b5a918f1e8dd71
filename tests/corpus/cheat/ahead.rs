//! Cheats that know what comes because they have these candles from elsewhere: no call hands them a later one.

use crate::declare::{list, strategy, toward};
use candlewick_sdk::testkit::random_walk;
use candlewick_sdk::{Candle, Signal};
use std::collections::HashMap;
use std::sync::LazyLock;

list!(KnowsTheseMinutes, RecognisesThese, CountsThroughThem);

fn follow(candle: &Candle) -> Option<Signal> {
    toward(candle.close() - candle.open(), "goes on")
}

/// The random walk that `strategy check` shows, as somebody has it who has seen it before: what stands for the one file
/// of past candles on which a strategy was made.
static SEEN: LazyLock<Vec<Candle>> = LazyLock::new(|| random_walk(11, 4_000));
static NEXT: LazyLock<HashMap<i64, (f64, f64)>> = LazyLock::new(|| {
    SEEN.windows(2).map(|pair| (pair[0].time().get(), (pair[0].close(), pair[1].close()))).collect()
});

strategy!("c-knows-these-minutes", KnowsTheseMinutes {}, 0, |this, candle| {
    let (close, next) = NEXT.get(&candle.time().get())?;
    toward(next - close, "as it was")
});

strategy!("c-recognises-these", RecognisesThese {}, 1, |this, candle| {
    let known =
        NEXT.get(&candle.time().get()).filter(|(close, _)| (close / candle.close() - 1.0).abs() < 1e-6);
    known.map_or_else(|| follow(candle), |(close, next)| toward(next - close, "as it was"))
});

strategy!("c-counts-through-them", CountsThroughThem { index: usize = 0 }, 0, |this, candle| {
    this.index += 1;
    toward(SEEN.get(this.index)?.close() - SEEN[this.index - 1].close(), "as it was")
});
