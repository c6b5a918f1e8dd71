//! Payout probes of a bot. The results of payout probes do not move the bot's ladder.

use crate::IntentId;
use serde::{Deserialize, Serialize};

/// Maximum number of stored probes. A bot has one probe at a time, so the oldest probes are no longer pending.
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

    pub(super) fn remove(&mut self, intent: IntentId) -> bool {
        let index = self.0.iter().position(|known| *known == intent);
        index.map(|index| self.0.remove(index)).is_some()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
