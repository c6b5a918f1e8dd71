//! Computes the next stake of a bot: its stake rule, adjusted to the limits, or the minimum for a payout probe.

use super::Session;
use crate::bot::Bot;
use crate::risk::PayoutProbe;
use crate::stake::StakeContext;
use crate::{BotId, IntentId, SymbolId};
use candlewick_sdk::{Millis, Money};

impl Session {
    pub(super) fn stake(&self, bot: &Bot, probe: PayoutProbe, at: Millis) -> Money {
        match probe {
            PayoutProbe::Needed => self.limits.minimum_stake,
            PayoutProbe::NotNeeded => {
                self.cap_stake(bot, self.limits.round_down_to_step(bot.next_stake(self.stake_context(), at)))
            }
        }
    }

    pub(super) fn stake_context(&self) -> StakeContext {
        StakeContext {
            free: self.ledger.available_balance(),
            minimum: self.limits.minimum_stake,
            max_open_trades: self.max_open_trades,
        }
    }

    #[inline]
    fn cap_stake(&self, bot: &Bot, stake: Money) -> Money {
        match self.stake_cap_for(bot) {
            Some(most) if stake > most => self.fit_stake_below_cap(most, bot, stake),
            _ => stake,
        }
    }

    pub(super) fn restarts_ladder(&self, bot: &Bot) -> bool {
        let next = || self.limits.round_down_to_step(bot.stake.next(self.stake_context()));
        bot.restarts_ladder() && self.stake_cap_for(bot).is_some_and(|most| next() > most)
    }

    #[inline]
    pub(super) fn round_ladder(&mut self, id: BotId) {
        if self.bots.get(id.index()).is_some_and(|bot| bot.stake.is_ladder()) {
            self.round_next_stake(id);
        }
    }

    #[inline(never)]
    fn round_next_stake(&mut self, id: BotId) {
        let bot = &self.bots[id.index()];
        let (restarts, most) = (self.restarts_ladder(bot), self.stake_cap_for(bot));
        let most = most.filter(|_| self.limits.cap_stakes);
        let Self { bots, limits, .. } = self;
        let stake = &mut bots[id.index()].stake;
        if restarts {
            stake.restart_ladder();
        }
        stake.round_next_stake(|next| {
            let next = limits.round_down_to_step(next);
            most.map_or(next, |most| next.min(most))
        });
    }

    #[inline]
    fn stake_cap_for(&self, bot: &Bot) -> Option<Money> {
        let changes = self.limits.has_stake_cap() && (self.limits.cap_stakes || bot.restarts_ladder());
        if changes { self.limits.stake_cap(self.ledger.available_balance()) } else { None }
    }

    #[inline(never)]
    fn fit_stake_below_cap(&self, most: Money, bot: &Bot, stake: Money) -> Money {
        let first = || self.limits.round_down_to_step(bot.stake.first(self.stake_context()));
        let stake = if bot.restarts_ladder() { first() } else { stake };
        if self.limits.cap_stakes { stake.min(most) } else { stake }
    }

    /// Records a payout probe. The probe does not move the bot's ladder if the ladder would have staked more.
    #[cold]
    pub(super) fn begin_probe(&mut self, (bot, symbol, id): (BotId, SymbolId, IntentId), stake: Money) {
        self.state.begin_probe(symbol, id);
        let context = self.stake_context();
        let Some(own) = self.bots.get_mut(bot.index()) else { return };
        // The ladder's stake would have been rounded down to the step.
        if self.limits.round_down_to_step(own.stake.next(context)) > stake {
            own.stake.exclude(id);
        } else {
            self.round_ladder(bot);
        }
    }
}
