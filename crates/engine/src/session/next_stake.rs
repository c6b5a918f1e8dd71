//! Next stake of a bot, within its bounds or as a payout probe.

use super::Session;
use crate::bot::Bot;
use crate::risk::Probe;
use crate::stake::Purse;
use crate::{BotId, IntentId, SymbolId};
use candlewick_sdk::{Millis, Money};

impl Session {
    pub(super) fn stake(&self, bot: &Bot, probe: Probe, at: Millis) -> Money {
        match probe {
            Probe::Needed => self.limits.minimum_stake,
            Probe::NotNeeded => self.fitted(bot, self.limits.step_down(bot.next_stake(self.purse(), at))),
        }
    }

    pub(super) fn purse(&self) -> Purse {
        Purse { free: self.ledger.available(), minimum: self.limits.minimum_stake, together: self.together }
    }

    #[inline]
    fn fitted(&self, bot: &Bot, stake: Money) -> Money {
        match self.cap_of(bot) {
            Some(most) if stake > most => self.fitted_below(most, bot, stake),
            _ => stake,
        }
    }

    pub(super) fn restarts_ladder(&self, bot: &Bot) -> bool {
        let next = || self.limits.step_down(bot.stake.next(self.purse()));
        bot.restarts_ladder() && self.cap_of(bot).is_some_and(|most| next() > most)
    }

    #[inline]
    pub(super) fn place_ladder(&mut self, id: BotId) {
        if self.bots.get(id.index()).is_some_and(|bot| bot.stake.is_ladder()) {
            self.place_next_stake(id);
        }
    }

    #[inline(never)]
    fn place_next_stake(&mut self, id: BotId) {
        let bot = &self.bots[id.index()];
        let (restarts, most) = (self.restarts_ladder(bot), self.cap_of(bot));
        let most = most.filter(|_| self.limits.cap_stakes);
        let Self { bots, limits, .. } = self;
        let stake = &mut bots[id.index()].stake;
        if restarts {
            stake.restart_ladder();
        }
        stake.round(|next| {
            let next = limits.step_down(next);
            most.map_or(next, |most| next.min(most))
        });
    }

    #[inline]
    fn cap_of(&self, bot: &Bot) -> Option<Money> {
        let changes = self.limits.bounds_stakes() && (self.limits.cap_stakes || bot.restarts_ladder());
        if changes { self.limits.stake_cap(self.ledger.available()) } else { None }
    }

    #[inline(never)]
    fn fitted_below(&self, most: Money, bot: &Bot, stake: Money) -> Money {
        let first = || self.limits.step_down(bot.stake.first(self.purse()));
        let stake = if bot.restarts_ladder() { first() } else { stake };
        if self.limits.cap_stakes { stake.min(most) } else { stake }
    }

    /// Counts a payout probe. It moves no ladder if the ladder would have staked more.
    #[cold]
    pub(super) fn begin_probe(&mut self, (bot, symbol, id): (BotId, SymbolId, IntentId), stake: Money) {
        self.state.begin_probe(symbol, id);
        let purse = self.purse();
        let Some(own) = self.bots.get_mut(bot.index()) else { return };
        // As it would have been staked: rounded down to the step.
        if self.limits.step_down(own.stake.next(purse)) > stake {
            own.stake.exclude(id);
        } else {
            self.place_ladder(bot);
        }
    }
}
