//! Second trades of a single request. The venue has them, so their stakes are at risk.

use super::Session;
use crate::{BotId, SecondTrade, VenueId};
use candlewick_sdk::Money;

impl Session {
    /// Returns the second trades that are not known to be settled.
    pub fn second_trades(&self) -> &[SecondTrade] {
        &self.second_trades
    }

    pub(super) fn on_second_trade(&mut self, trade: &SecondTrade) {
        if self.second_trades.iter().all(|known| known.venue_id != trade.venue_id) {
            self.second_trades.push(*trade);
            self.ledger.reserve(trade.stake);
            self.intents.begin_second(trade.intent);
        }
    }

    pub(super) fn end_second_trade(&mut self, venue_id: &VenueId, profit: Money) {
        if let Some(place) = self.second_trades.iter().position(|known| known.venue_id == *venue_id) {
            let trade = self.second_trades.remove(place);
            self.ledger.settle(trade.stake, profit);
            let bot = self.intents.end_second(trade.intent);
            self.earn_in_session(bot.unwrap_or(BotId::RETIRED), profit);
            if let Some(bot) = bot {
                self.state.earn_of_bot(bot, profit);
            }
        }
    }
}
