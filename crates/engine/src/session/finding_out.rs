//! Payout probes: trades at the minimum stake that reveal the payout of their symbol.

use super::Session;
use crate::{BotId, IntentId, SymbolId};
use candlewick_sdk::Money;

impl Session {
    /// Counts a payout probe. It moves no ladder if the ladder would have staked more.
    #[cold]
    pub(super) fn begin_probe(&mut self, (bot, symbol, id): (BotId, SymbolId, IntentId), stake: Money) {
        self.state.begin_probe(symbol, id);
        let purse = self.purse();
        let Some(own) = self.bots.get_mut(bot.index()) else { return };
        // As it would have been staked: rounded down to the step.
        if self.limits.step_down(own.stake.next(purse)) > stake {
            own.stake.leave_apart(id);
        } else {
            self.place_ladder(bot);
        }
    }
}
