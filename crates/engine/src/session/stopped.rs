//! Whether a bot opens nothing more until a person lets it.

use super::Session;
use crate::risk::{self, Probe, Proposal};
use crate::{BotId, Origin, Rule};
use candlewick_sdk::{Direction, Millis, Reason};

static NO_REASON: Reason = Reason::new("");

impl Session {
    /// The rule by which a bot opens nothing more after all that has happened: one that only a person lifts, or a balance that
    /// covers no stake. Meant for the end of a run; what is still under way may change it.
    pub fn stopped_by(&self, bot: BotId) -> Option<Rule> {
        let last = self.bots.get(bot.index())?.last_close;
        let proposal = self.any_proposal(bot, last);
        risk::stopped_by(&proposal, self.view(proposal.symbol))
    }

    /// A signal of the bot at this moment, whatever it says.
    pub(super) fn any_proposal(&self, id: BotId, now: Millis) -> Proposal<'static> {
        let bot = &self.bots[id.index()];
        Proposal {
            bot: id,
            symbol: bot.symbol,
            direction: Direction::Buy,
            expiry: bot.expiry,
            stake: self.stake(bot, Probe::NotNeeded, now),
            at: now,
            received: now,
            origin: Origin::Live,
            last_close: now,
            interval: bot.interval,
            nominal_close: now,
            edge: bot.verdict.edge(),
            reason: &NO_REASON,
            is_virtual: false,
        }
    }
}
