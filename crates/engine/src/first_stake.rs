//! Stakes are held against the limits before the first trade: one that every signal would be refused for is found before
//! anybody waits for a trade.

use crate::risk::Limits;
use crate::stake::{Purse, Stake};
use crate::{EngineError, SessionSettings};
use candlewick_sdk::{Money, MoneyScale};

/// Checks that each bot's first stake, at the configured balance, passes the limits that look at stakes.
///
/// # Errors
/// [`EngineError`] with the figures where no trade of a bot could ever be opened.
pub fn check_first_stakes(settings: &SessionSettings) -> Result<(), EngineError> {
    let scale = settings.money_scale;
    let limits = Limits::new(&settings.risk, scale)?;
    let balance = scale
        .exact(settings.balance)
        .map_err(|source| EngineError::Amount { key: "account.initial_balance".to_owned(), source })?;
    for (index, bot) in settings.bots.iter().enumerate() {
        let key = format!("bots[{index}].stake");
        let stake = Stake::new(&bot.stake, scale, &key)?;
        let purse = Purse { free: balance, minimum: limits.minimum_stake(), together: 1 };
        let first = limits.step_down(stake.next(purse));
        if let Some((limit, bound)) = broken_limit(first, balance, &limits, scale) {
            return Err(EngineError::setting(
                key,
                format!(
                    "the stake of bot \"{}\" is {}, and {limit} is {bound}: no trade could ever be opened; change one of the two",
                    bot.name,
                    scale.format(first),
                ),
            ));
        }
    }
    Ok(())
}

/// The limit that `stake` breaks, in words, and its figure.
fn broken_limit(
    stake: Money,
    balance: Money,
    limits: &Limits,
    scale: MoneyScale,
) -> Option<(&'static str, String)> {
    if stake < limits.minimum_stake() {
        return Some(("the least, risk.min_stake,", scale.format(limits.minimum_stake())));
    }
    let bounds = [
        ("the most, risk.max_stake,", limits.largest_stake()),
        ("the most, risk.max_stake_percent of account.initial_balance,", limits.share_of(balance)),
        ("account.initial_balance", Some(balance)),
        ("risk.daily_loss_limit, what a day may lose,", limits.daily_loss()),
        ("what risk.max_drawdown_percent lets account.initial_balance lose", limits.drawdown_below(balance)),
    ];
    let (limit, bound) = bounds.into_iter().find(|(_, bound)| bound.is_some_and(|bound| stake > bound))?;
    Some((limit, scale.format(bound?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BotSettings, RiskSettings, StakeSettings};
    use candlewick_sdk::rust_decimal::Decimal;
    use candlewick_sdk::{ExpirationType, Interval, Symbol};

    fn check(stake: StakeSettings, change: impl Fn(&mut RiskSettings), expected: Option<&str>) {
        let mut risk = RiskSettings {
            daily_loss_limit: Decimal::ZERO,
            max_drawdown_percent: 0.0,
            ..RiskSettings::default()
        };
        change(&mut risk);
        let bot = BotSettings {
            name: "btc".to_owned(),
            symbol: Symbol::new("BTCUSDT").unwrap(),
            venue: std::collections::BTreeMap::new(),
            interval: Interval::MINUTE,
            strategy: "rsi-reversal".to_owned(),
            close_type: "01:00".parse().unwrap(),
            expiration_type: ExpirationType::TimeFixed,
            params: serde_json::json!({}),
            stake,
        };
        let settings = SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(1_000),
            risk,
            bots: vec![bot],
        };
        let problem = check_first_stakes(&settings).err().map(|error| error.to_string());
        match (&problem, expected) {
            (None, None) => (),
            (Some(problem), Some(part)) => assert!(problem.contains(part), "{problem}"),
            _ => panic!("{problem:?} instead of {expected:?}"),
        }
    }

    fn fixed(amount: i64) -> StakeSettings {
        StakeSettings::Fixed { amount: Decimal::from(amount) }
    }

    #[test]
    fn a_stake_that_every_limit_lets_through_is_sound() {
        check(fixed(10), |_| {}, None);
        check(fixed(1_000), |_| {}, None);
        check(fixed(100), |risk| risk.daily_loss_limit = Decimal::from(100), None);
    }

    #[test]
    fn a_stake_that_no_trade_could_have_is_named_with_the_limit() {
        check(
            fixed(10),
            |risk| risk.min_stake = Decimal::from(11),
            Some("is 10.00, and the least, risk.min_stake, is 11.00"),
        );
        check(fixed(10), |risk| risk.max_stake = Decimal::from(9), Some("risk.max_stake, is 9.00"));
        check(fixed(10), |risk| risk.max_stake_percent = 0.9, Some("account.initial_balance, is 9.00"));
        check(fixed(1_001), |_| {}, Some("account.initial_balance is 1000.00"));
        check(fixed(10), |risk| risk.daily_loss_limit = Decimal::from(9), Some("risk.daily_loss_limit"));
        check(
            fixed(10),
            |risk| risk.max_drawdown_percent = 0.9,
            Some("account.initial_balance lose is 9.00"),
        );
    }

    #[test]
    fn a_share_of_the_balance_below_the_least_stake_is_found() {
        check(
            StakeSettings::Share { percent: 0.05 },
            |_| {},
            Some("is 0.50, and the least, risk.min_stake, is 1.00"),
        );
        check(StakeSettings::Share { percent: 0.1 }, |_| {}, None);
    }
}
