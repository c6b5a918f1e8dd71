//! Payout probes of a bot. They are excluded from its ladder, so their results do not move it.

use crate::IntentId;
use serde::{Deserialize, Serialize};

/// A bot has one probe at a time, so older probes have ended or never became trades.
const MAX_PROBES: usize = 16;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ExcludedTrades(Vec<IntentId>);

impl ExcludedTrades {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn add(&mut self, intent: IntentId) {
        // Probes that never became trades have no end that would remove them.
        if self.0.len() == MAX_PROBES {
            self.0.remove(0);
        }
        self.0.push(intent);
    }

    pub(super) fn end(&mut self, intent: IntentId) -> bool {
        let index = self.0.iter().position(|known| *known == intent);
        index.map(|index| self.0.remove(index)).is_some()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
