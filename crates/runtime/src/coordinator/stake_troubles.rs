//! Descriptions of impossible stakes for the status.

use super::Coordinator;
use candlewick_engine::{StakeBound, StakeTrouble};
use candlewick_sdk::Millis;

impl Coordinator {
    pub(super) fn stake_troubles(&self, now: Millis) -> Vec<String> {
        let session = self.session.session();
        let describe = |trouble: StakeTrouble| {
            let name = session.bots().get(trouble.bot.index()).map_or("", String::as_str);
            let money = |amount| self.session.scale().format(amount);
            let (stake, figure) = (money(trouble.stake), money(trouble.figure));
            let (bound, remedy) = words_of(trouble.bound);
            format!("stake {stake} of {name} is {bound} {figure}: no trade can open until {remedy}")
        };
        session.stake_troubles(now).into_iter().map(describe).collect()
    }
}

const fn words_of(bound: StakeBound) -> (&'static str, &'static str) {
    match bound {
        StakeBound::MinStake => ("below min_stake", "the balance grows or you lower min_stake"),
        StakeBound::MaxStake => ("above max_stake", "you raise max_stake or set cap_stakes"),
        StakeBound::MaxStakePercent => {
            ("above max_stake_percent of the free balance,", "you raise max_stake_percent or set cap_stakes")
        }
        StakeBound::DailyLossLimit => ("above daily_loss_limit", "you raise the limit"),
        StakeBound::BotDailyLossLimit => ("above its own daily_loss_limit", "you raise the limit"),
        StakeBound::FreeBalance => ("above the free balance", "the balance grows or you lower the stake"),
    }
}
