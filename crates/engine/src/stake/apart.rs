//! Trades of a bot whose ends move no ladder: each was staked to find out what its symbol pays, and not by the ladder.

use crate::IntentId;
use serde::{Deserialize, Serialize};

/// Those that have not ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Apart(Vec<IntentId>);

impl Apart {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn add(&mut self, intent: IntentId) {
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
