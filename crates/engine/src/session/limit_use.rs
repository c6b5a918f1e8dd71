//! How much of each limit is used.

use super::Session;
use crate::risk::{LimitUse, limit_use};
use candlewick_sdk::Millis;

impl Session {
    /// What is used of each limit that is on, at this moment.
    pub fn limit_use(&self, now: Millis) -> Vec<LimitUse> {
        limit_use(&self.limits, (&self.ledger, &self.intents, &self.state), now)
    }
}
