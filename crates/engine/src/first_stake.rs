//! Checks first stakes against the limits, so that a run that could never trade is not started.

use crate::risk::Limits;
use crate::stake::{Purse, Stake};
use crate::{EngineError, SessionSettings, StakeSettings};
use candlewick_sdk::{Money, MoneyScale};

/// Checks the first stake of each bot against the limits on stakes.
///
/// A limit that is broken only at the configured balance is returned as a notice, because a live
/// run uses the balance of its wallet.
///
/// # Errors
/// [`EngineError`] with the figures if no trade of a bot could be opened at any balance.
pub fn check_first_stakes(settings: &SessionSettings) -> Result<Vec<String>, EngineError> {
    let scale = settings.money_scale;
    let limits = Limits::new(&settings.risk, scale)?;
    let balance = scale
        .exact(settings.balance)
        .map_err(|source| EngineError::Amount { key: "account.initial_balance".to_owned(), source })?;
    let mut notices = Vec::new();
    for (index, bot) in settings.bots.iter().enumerate() {
        let key = format!("bots[{index}].stake");
        let stake = Stake::new(&bot.stake, scale, &key)?;
        let purse = Purse { free: balance, minimum: limits.minimum_stake(), together: 1 };
        let first = limits.step_down(stake.next(purse));
        let cap = limits.stake_cap(balance).filter(|_| limits.caps_stakes());
        let first = cap.map_or(first, |most| first.min(most));
        let broken = broken_limit(first, balance, &limits, scale);
        let own = || own_limit(first, balance, (&bot.name, settings), &limits);
        let Some(broken) = broken.or_else(own) else { continue };
        let (name, stake) = (&bot.name, scale.format(first));
        let BrokenLimit { limit, bound, by_balance } = broken;
        if by_balance || matches!(bot.stake, StakeSettings::Share { .. } | StakeSettings::Kelly { .. }) {
            notices.push(format!(
                "bot \"{name}\": at account.initial_balance = {} its stake is {stake}, and {limit} is {bound}: no trade could be opened",
                scale.format(balance)
            ));
        } else {
            let problem = format!(
                "the stake of bot \"{name}\" is {stake}, and {limit} is {bound}: no trade could ever be opened; change one of the two"
            );
            return Err(EngineError::setting(key, problem));
        }
    }
    Ok(notices)
}

struct BrokenLimit {
    limit: String,
    bound: String,
    by_balance: bool,
}

fn broken_limit(stake: Money, balance: Money, limits: &Limits, scale: MoneyScale) -> Option<BrokenLimit> {
    let broken = |limit: &str, bound: Money, by_balance| BrokenLimit {
        limit: limit.to_owned(),
        bound: scale.format(bound),
        by_balance,
    };
    if stake < limits.minimum_stake() {
        return Some(broken("the least, risk.min_stake,", limits.minimum_stake(), false));
    }
    let bounds = [
        ("the most, risk.max_stake,", limits.largest_stake(), false),
        ("risk.daily_loss_limit, what a day may lose,", limits.daily_loss_limit.amount(), false),
        ("the most, risk.max_stake_percent of account.initial_balance,", limits.share_of(balance), true),
        (
            "what risk.daily_loss_limit_percent lets account.initial_balance lose in a day",
            limits.daily_loss_limit.share_of(balance),
            true,
        ),
        ("risk.session.loss_limit, what a session may lose,", limits.session.loss_limit.of(balance), true),
        ("account.initial_balance", Some(balance), true),
        (
            "what risk.max_drawdown_percent lets account.initial_balance lose",
            limits.drawdown_below(balance),
            true,
        ),
    ];
    bounds.into_iter().find_map(|(limit, bound, by_balance)| {
        let bound = bound.filter(|bound| stake > *bound)?;
        Some(broken(limit, bound, by_balance))
    })
}

fn own_limit(
    stake: Money,
    balance: Money,
    (bot, settings): (&str, &SessionSettings),
    limits: &Limits,
) -> Option<BrokenLimit> {
    let own = settings.risk.bots.get(bot)?;
    let scale = settings.money_scale;
    let bounds = [
        ("daily_loss_limit", "a day", own.daily_loss_limit, limits.daily_loss_of(bot, balance)),
        ("session_loss_limit", "a session", own.session_loss_limit, limits.session_loss_of(bot, balance)),
    ];
    bounds.into_iter().find_map(|(key, span, amount, bound)| {
        let bound = bound.filter(|bound| stake > *bound)?;
        // The amount holds at any balance, a percentage at this one.
        let amount = scale.exact(amount).ok().filter(|amount| amount.is_positive() && stake > *amount);
        let key = if amount.is_some() { key.to_owned() } else { format!("{key}_percent") };
        let limit = format!("risk.bots.{bot}.{key}, what {span} of this bot may lose,");
        let shown = scale.format(amount.unwrap_or(bound));
        Some(BrokenLimit { limit, bound: shown, by_balance: amount.is_none() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use crate::{BotLimitSettings, RiskSettings};
    use candlewick_sdk::rust_decimal::Decimal;

    #[derive(Clone, Copy, Debug)]
    enum Expected {
        Sound,
        AtThisBalance(&'static str),
        Never(&'static str),
    }
    use Expected::{AtThisBalance, Never, Sound};

    fn check(stake: StakeSettings, change: impl Fn(&mut RiskSettings), expected: Expected) {
        let mut risk = RiskSettings {
            daily_loss_limit: Decimal::ZERO,
            max_drawdown_percent: 0.0,
            ..RiskSettings::default()
        };
        change(&mut risk);
        let bot = testing::bot("btc", stake);
        let settings = SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(1_000),
            risk,
            bots: vec![bot],
            longer_share_percent: None,
        };
        let answer = check_first_stakes(&settings).map_err(|error| error.to_string());
        let (answer, expected) = match (answer, expected) {
            (Ok(notices), Sound) => return assert!(notices.is_empty(), "{notices:?}"),
            (Ok(notices), AtThisBalance(part)) => (notices.concat(), part),
            (Err(problem), Never(part)) => (problem, part),
            (answer, _) => panic!("{answer:?} instead of {expected:?}"),
        };
        assert!(answer.contains(expected), "{answer}");
    }

    fn fixed(amount: i64) -> StakeSettings {
        StakeSettings::Fixed { amount: Decimal::from(amount) }
    }

    #[test]
    fn a_stake_that_every_limit_lets_through_is_sound() {
        check(fixed(10), |_| {}, Sound);
        check(fixed(1_000), |_| {}, Sound);
        check(fixed(100), |risk| risk.daily_loss_limit = Decimal::from(100), Sound);
        check(StakeSettings::Share { percent: 0.1 }, |_| {}, Sound);
    }

    #[test]
    fn a_stake_that_no_trade_could_have_is_named_with_the_limit() {
        let least = "is 10.00, and the least, risk.min_stake, is 11.00";
        check(fixed(10), |risk| risk.min_stake = Decimal::from(11), Never(least));
        check(fixed(10), |risk| risk.max_stake = Decimal::from(9), Never("risk.max_stake, is 9.00"));
        check(fixed(10), |risk| risk.daily_loss_limit = Decimal::from(9), Never("risk.daily_loss_limit"));
    }

    #[test]
    fn a_share_that_no_trade_could_have_is_named_with_the_balance_and_the_limit() {
        let least =
            "at account.initial_balance = 1000.00 its stake is 0.50, and the least, risk.min_stake, is 1.00";
        check(StakeSettings::Share { percent: 0.05 }, |_| {}, AtThisBalance(least));
        let day = |risk: &mut RiskSettings| risk.daily_loss_limit = Decimal::from(10);
        let most =
            "is 20.00, and risk.daily_loss_limit, what a day may lose, is 10.00: no trade could be opened";
        check(StakeSettings::Share { percent: 2.0 }, day, AtThisBalance(most));
        check(StakeSettings::Share { percent: 1.0 }, day, Sound);
    }

    #[test]
    fn a_stake_above_the_bot_s_own_limits_is_named_with_them() {
        let own = |limits: BotLimitSettings| {
            move |risk: &mut RiskSettings| {
                risk.bots.insert("btc".to_owned(), limits.clone());
            }
        };
        let none = BotLimitSettings::default();
        let day = |most: i64| BotLimitSettings { daily_loss_limit: Decimal::from(most), ..none.clone() };
        let words = "is 10.00, and risk.bots.btc.daily_loss_limit, what a day of this bot may lose, is 5.00";
        check(fixed(10), own(day(5)), Never(words));
        check(fixed(10), own(day(10)), Sound);
        let session = BotLimitSettings { session_loss_limit: Decimal::from(9), ..none.clone() };
        check(fixed(10), own(session), Never("risk.bots.btc.session_loss_limit, what a session"));
        // Of 1,000, 0.9 % are 9: another balance would mend it.
        let percent = BotLimitSettings { daily_loss_limit_percent: 0.9, ..none.clone() };
        let words = "risk.bots.btc.daily_loss_limit_percent, what a day of this bot may lose, is 9.00";
        check(fixed(10), own(percent), AtThisBalance(words));
        let other = |risk: &mut RiskSettings| {
            risk.bots.insert("eth".to_owned(), day(5));
        };
        check(fixed(10), other, Sound);
    }

    #[test]
    fn what_another_balance_would_mend_is_a_notice() {
        check(
            fixed(10),
            |risk| risk.max_stake_percent = 0.9,
            AtThisBalance("account.initial_balance, is 9.00"),
        );
        check(fixed(1_001), |_| {}, AtThisBalance("account.initial_balance is 1000.00"));
        let drawdown = "account.initial_balance lose is 9.00";
        check(fixed(10), |risk| risk.max_drawdown_percent = 0.9, AtThisBalance(drawdown));
    }
}
