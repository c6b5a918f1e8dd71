//! When the requests of approved trades leave.

use super::Session;
use crate::{Approved, BotId, OrderTerms, risk};
use candlewick_sdk::Millis;

impl Session {
    /// From a decision of the bot to the request of its trade: its `entry_delay_s`.
    #[inline]
    pub fn entry_delay(&self, bot: BotId) -> Millis {
        self.bots.get(bot.index()).map_or(Millis::ZERO, |bot| bot.entry_delay)
    }

    /// The moment at which an approved trade is asked for: that of its decision, unless its bot has a delay.
    #[inline]
    pub fn departure(&self, terms: &OrderTerms) -> Millis {
        terms.decision_time() + self.entry_delay(terms.bot())
    }

    /// The last moment at which an approved trade's request may leave: after it the signal is late, whatever kept the
    /// request back.
    pub fn latest_departure(&self, approved: &Approved) -> Millis {
        let bot = self.bots.get(approved.bot().index());
        bot.map_or(Millis::MAX, |bot| {
            risk::latest_departure(&self.limits, bot.interval, self.departure(approved.terms()))
        })
    }
}
