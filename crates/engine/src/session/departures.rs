//! Times at which the orders of approved trades are sent.

use super::Session;
use crate::{Approved, BotId, OrderTerms, risk};
use candlewick_sdk::Millis;

impl Session {
    /// Returns the delay from a bot's decision to its order, the `entry_delay_s`.
    #[inline]
    pub fn entry_delay(&self, bot: BotId) -> Millis {
        self.bots.get(bot.index()).map_or(Millis::ZERO, |bot| bot.entry_delay)
    }

    /// Returns when an approved trade is ordered: decision time plus delay.
    #[inline]
    pub fn departure(&self, terms: &OrderTerms) -> Millis {
        terms.decision_time() + self.entry_delay(terms.bot())
    }

    /// Returns the latest time to send the order of an approved trade.
    ///
    /// After it the signal is late, whatever delayed the order.
    pub fn latest_departure(&self, approved: &Approved) -> Millis {
        let bot = self.bots.get(approved.bot().index());
        bot.map_or(Millis::MAX, |bot| {
            risk::latest_departure(&self.limits, bot.interval, self.departure(approved.terms()))
        })
    }
}
