//! Cheats that share what is not theirs alone; each begins by putting it back, so that one run after another is alike.

use crate::declare::{list, strategy, toward};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

list!(SharedClose, OnlyOneOfUs);

static CLOSE: AtomicU64 = AtomicU64::new(0);

strategy!(
    "c-shared-close",
    SharedClose { _before: u64 = CLOSE.swap(0, Ordering::Relaxed) },
    2,
    |this, candle| {
        let before = f64::from_bits(CLOSE.swap(candle.close().to_bits(), Ordering::Relaxed));
        (before > 0.0).then(|| toward(candle.close() - before, "since the last close")).flatten()
    }
);

static ALIVE: AtomicI64 = AtomicI64::new(0);

strategy!(
    "c-only-one-of-us",
    OnlyOneOfUs { _others: i64 = ALIVE.fetch_add(1, Ordering::Relaxed) },
    1,
    |this, candle| {
        let is_alone = ALIVE.load(Ordering::Relaxed) == 1;
        is_alone.then(|| toward(candle.close() - candle.open(), "goes on")).flatten()
    }
);

impl Drop for OnlyOneOfUs {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}
