//! How much of each limit is used.

use super::Session;
use crate::BotId;
use crate::risk::{LimitUse, limit_use, limit_use_of};
use candlewick_sdk::Millis;

impl Session {
    /// What is used of each limit that is on, at this moment.
    pub fn limit_use(&self, now: Millis) -> Vec<LimitUse> {
        limit_use(&self.limits, (&self.ledger, &self.intents, &self.state), now)
    }

    /// The same of the limits that a bot has of its own.
    pub fn limit_use_of(&self, bot: BotId) -> Vec<LimitUse> {
        limit_use_of(bot, &self.limits, (&self.ledger, &self.intents, &self.state))
    }
}
