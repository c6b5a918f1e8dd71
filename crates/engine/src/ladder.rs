//! Ladders are held against the limits before the first trade: all levels of every ladder that can run at once
//! must fit.

use crate::risk::Limits;
use crate::stake::Stake;
use crate::{EngineError, SessionSettings};
use candlewick_sdk::Money;

/// What is to be said of a bot's ladder before the first trade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LadderNotice {
    /// Whose ladder.
    pub bot: String,
    /// What all its levels cost together, with the wallet's decimals.
    pub cost: String,
    /// Its largest stake.
    pub largest: String,
    /// The whole sentence.
    pub text: String,
}

/// Checks that the full cost of all ladders fits balance, daily loss limit, drawdown limit and largest stake.
///
/// # Errors
/// [`EngineError`] with the figures when they do not fit.
pub fn check_ladders(settings: &SessionSettings) -> Result<Vec<LadderNotice>, EngineError> {
    let scale = settings.money_scale;
    let limits = Limits::new(&settings.risk, scale)?;
    let balance = scale
        .exact(settings.balance)
        .map_err(|source| EngineError::Amount { key: "account.initial_balance".to_owned(), source })?;
    let mut notices = Vec::new();
    let mut total = Money::ZERO;
    for (index, bot) in settings.bots.iter().enumerate() {
        let key = format!("bots[{index}].stake");
        let Some(cost) = Stake::new(&bot.stake, scale, &key)?.ladder_cost() else { continue };
        if let Some(most) = limits.largest_stake().filter(|most| cost.largest > *most) {
            return Err(EngineError::setting(
                key,
                format!(
                    "the ladder's largest stake is {}, above risk.max_stake = {}: take fewer levels, a smaller factor or a smaller amount",
                    scale.format(cost.largest),
                    scale.format(most)
                ),
            ));
        }
        total += cost.total;
        let (bot, cost, largest) = (bot.name.clone(), scale.format(cost.total), scale.format(cost.largest));
        let text = format!(
            "bot \"{bot}\": its ladder costs {cost} when every level loses (largest stake {largest})"
        );
        notices.push(LadderNotice { bot, cost, largest, text });
    }
    let bounds = [
        ("account.initial_balance", Some(balance)),
        ("risk.daily_loss_limit", limits.daily_loss()),
        ("risk.max_drawdown_percent", limits.drawdown_below(balance)),
    ];
    for (key, bound) in bounds {
        if let Some(bound) = bound.filter(|bound| total > *bound) {
            return Err(EngineError::setting(
                key,
                format!(
                    "all ladders together cost {}, more than the {} that this allows: take fewer levels, a smaller amount, or raise it",
                    scale.format(total),
                    scale.format(bound)
                ),
            ));
        }
    }
    Ok(notices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BotSettings, RiskSettings, StakeSettings};
    use candlewick_sdk::rust_decimal::Decimal;
    use candlewick_sdk::{ExpirationType, Interval, MoneyScale, Symbol};

    fn check(bots: usize, amount: i64, change: impl Fn(&mut RiskSettings), expected: Result<usize, &str>) {
        let mut risk = RiskSettings::default();
        change(&mut risk);
        let bot = |index: usize| BotSettings {
            name: format!("bot-{index}"),
            symbol: Symbol::new("BTCUSDT").unwrap(),
            venue: std::collections::BTreeMap::new(),
            interval: Interval::MINUTE,
            strategy: "rsi-reversal".to_owned(),
            close_type: "01:00".parse().unwrap(),
            expiration_type: ExpirationType::TimeFixed,
            params: serde_json::json!({}),
            // 1 + 2 + 4 = 7 times the amount, the largest 4 times.
            stake: StakeSettings::Martingale { amount: Decimal::from(amount), factor: 2.0, levels: 3 },
        };
        let settings = SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(10_000),
            risk,
            bots: (0..bots).map(bot).collect(),
        };
        match (check_ladders(&settings), expected) {
            (Ok(notices), Ok(count)) => assert_eq!(notices.len(), count),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (answer, _) => panic!("{answer:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn ladders_that_fit_are_named_with_their_cost() {
        check(1, 10, |_| {}, Ok(1));
    }

    #[test]
    fn ladders_that_do_not_fit_together_are_refused_with_the_figures() {
        check(
            2,
            10,
            |_| {},
            Err("risk.daily_loss_limit: all ladders together cost 140.00, more than the 100.00"),
        );
        check(1, 300, |risk| risk.daily_loss_limit = Decimal::ZERO, Err("risk.max_drawdown_percent"));
        check(
            1,
            10,
            |risk| risk.max_stake = Decimal::from(39),
            Err("largest stake is 40.00, above risk.max_stake = 39.00"),
        );
    }
}
