//! Stakes that no trade can have until a setting or the balance changes.

use super::Session;
use crate::BotId;
use crate::bot::Bot;
use crate::risk::Probe;
use candlewick_sdk::{Millis, Money};

/// A next stake out of bounds that open trades of the bot cannot change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StakeTrouble {
    /// Bot of the stake.
    pub bot: BotId,
    /// Next stake.
    pub stake: Money,
    /// Violated bound.
    pub bound: StakeBound,
    /// Value of the bound.
    pub figure: Money,
}

/// A bound of stakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StakeBound {
    /// `risk.min_stake`, rounded up to a multiple of `risk.stake_step`.
    MinStake,
    /// `risk.max_stake`.
    MaxStake,
    /// `risk.max_stake_percent` of the free balance.
    MaxStakePercent,
    /// `risk.daily_loss_limit` of a day without losses, or its share of the equity.
    DailyLossLimit,
    /// The bot's own daily loss limit, likewise.
    BotDailyLossLimit,
    /// The free balance.
    FreeBalance,
}

impl Session {
    /// Returns the stakes that remain refused until something is changed, in bot order.
    pub fn stake_troubles(&self, now: Millis) -> Vec<StakeTrouble> {
        let trouble = |(place, bot): (usize, &Bot)| {
            let id = BotId::new(place)?;
            let stake = self.stake(bot, Probe::NotNeeded, now);
            let (bound, figure) = self.broken_bound(id, stake)?;
            Some(StakeTrouble { bot: id, stake, bound, figure })
        };
        self.bots.iter().enumerate().filter_map(trouble).collect()
    }

    fn broken_bound(&self, id: BotId, stake: Money) -> Option<(StakeBound, Money)> {
        let Self { limits, ledger, intents, .. } = self;
        // The end of an open trade may change the bot's stake, and every balance.
        if intents.trades_of(id) > 0 {
            return None;
        }
        let (free, equity) = (ledger.free(), ledger.equity());
        let is_settled = intents.trades() == 0;
        let least = limits.minimum_stake();
        if stake < least {
            return is_settled.then_some((StakeBound::MinStake, least));
        }
        let own = self.names.get(id.index()).and_then(|name| limits.daily_loss_of(name, equity));
        let bounds = [
            (StakeBound::MaxStake, limits.largest_stake(), true),
            (StakeBound::MaxStakePercent, limits.share_of(free), is_settled),
            (StakeBound::DailyLossLimit, limits.daily_loss_limit.of(equity), is_settled),
            (StakeBound::BotDailyLossLimit, own, is_settled),
            (StakeBound::FreeBalance, Some(free), is_settled),
        ];
        let broken = |(bound, most, is_certain): (StakeBound, Option<Money>, bool)| {
            most.filter(|most| is_certain && stake > *most).map(|most| (bound, most))
        };
        bounds.into_iter().find_map(broken)
    }
}
