//! Trades of a bot whose ends move no ladder: each was staked to find out what its symbol pays, and not by the ladder.

use crate::IntentId;
use serde::{Deserialize, Serialize};

/// A bot has one such trade at a time on its symbol, so that one of so many before has ended, or never was.
const MOST: usize = 16;

/// Those that have not ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Apart(Vec<IntentId>);

impl Apart {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn add(&mut self, intent: IntentId) {
        // One that never became a trade has no end.
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push(intent);
    }

    /// It has ended; whether it was one of them.
    pub(super) fn end(&mut self, intent: IntentId) -> bool {
        let place = self.0.iter().position(|known| *known == intent);
        place.map(|place| self.0.remove(place)).is_some()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
