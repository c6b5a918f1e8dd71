//! Payout probes of a bot. They were not staked by its ladder, so their ends do not move it.

use crate::IntentId;
use serde::{Deserialize, Serialize};

/// A bot has one probe at a time on its symbol, so the one this many probes ago has ended or never was.
const MOST: usize = 16;

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

    pub(super) fn end(&mut self, intent: IntentId) -> bool {
        let place = self.0.iter().position(|known| *known == intent);
        place.map(|place| self.0.remove(place)).is_some()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
