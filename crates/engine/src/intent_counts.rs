//! Counts of unfinished intents per symbol, which the rules read at every signal.

use crate::intent::{Intent, Stage};
use candlewick_sdk::{Direction, Millis};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IntentCounts {
    pub(crate) by_direction: [u32; 2],
    pub(crate) by_stage: [u32; 3],
    /// Latest nominal close of any intent so far, `Millis::MAX` (unknown) after a restore.
    #[serde(skip, default = "end_of_time")]
    pub(crate) latest_close: Millis,
}

const fn end_of_time() -> Millis {
    Millis::MAX
}

impl IntentCounts {
    pub(crate) const NONE: Self =
        Self { by_direction: [0; 2], by_stage: [0; 3], latest_close: Millis::new(i64::MIN) };

    #[inline]
    pub(crate) const fn all(&self) -> u32 {
        self.by_direction[0] + self.by_direction[1]
    }

    #[inline]
    pub(crate) const fn in_direction(&self, direction: Direction) -> u32 {
        self.by_direction[direction as usize]
    }

    #[inline]
    pub(crate) const fn at_stage(&self, stage: Stage) -> u32 {
        self.by_stage[stage as usize]
    }

    /// Returns `false` only if no intent can have its nominal close at this time.
    #[inline]
    pub(crate) fn may_close_at(&self, moment: Millis) -> bool {
        moment <= self.latest_close
    }

    #[inline]
    pub(crate) fn add(&mut self, intent: &Intent) {
        self.by_direction[intent.direction as usize] += 1;
        self.by_stage[intent.stage as usize] += 1;
        self.latest_close = self.latest_close.max(intent.nominal_close);
    }

    #[inline]
    pub(crate) const fn remove(&mut self, intent: &Intent) {
        self.by_direction[intent.direction as usize] -= 1;
        self.by_stage[intent.stage as usize] -= 1;
    }

    #[inline]
    pub(crate) const fn change_stage(&mut self, from: Stage, to: Stage) {
        self.by_stage[from as usize] -= 1;
        self.by_stage[to as usize] += 1;
    }
}
