//! Position of the checks in the candles, for a supervisor on another thread.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

static CANDLE: AtomicUsize = AtomicUsize::new(0);
static SHOWN: AtomicU64 = AtomicU64::new(0);

/// Position of the checks of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Index of the last candle fed, within its run.
    pub candle: usize,
    /// Total number of candles fed, over all runs.
    pub shown: u64,
}

impl Position {
    /// Returns the current position.
    pub fn now() -> Self {
        Self { candle: CANDLE.load(Ordering::Relaxed), shown: SHOWN.load(Ordering::Relaxed) }
    }

    /// Records that a candle is about to be fed.
    pub fn record(candle: usize) {
        CANDLE.store(candle, Ordering::Relaxed);
        SHOWN.fetch_add(1, Ordering::Relaxed);
    }
}
