//! Percentages that look like fractions.

use crate::risk::{BotLimitSettings, RiskSettings, SessionLimitSettings};
use crate::{SessionSettings, StakeSettings};

/// A note of each percentage of a limit or a stake below 1: whoever writes 0.05 may mean 5 %.
pub fn small_percents(settings: &SessionSettings) -> Vec<String> {
    let RiskSettings { session, bots, .. } = &settings.risk;
    let risk = &settings.risk;
    let mut named = vec![
        ("risk.daily_loss_limit_percent".to_owned(), risk.daily_loss_limit_percent),
        ("risk.daily_profit_target_percent".to_owned(), risk.daily_profit_target_percent),
        ("risk.max_drawdown_percent".to_owned(), risk.max_drawdown_percent),
        ("risk.max_stake_percent".to_owned(), risk.max_stake_percent),
    ];
    let SessionLimitSettings { loss_limit_percent, profit_target_percent, .. } = session;
    named.push(("risk.session.loss_limit_percent".to_owned(), *loss_limit_percent));
    named.push(("risk.session.profit_target_percent".to_owned(), *profit_target_percent));
    // Of one bot half a percent is a limit that people set; less than a tenth is rather a fraction.
    for (bot, own) in bots {
        let BotLimitSettings { daily_loss_limit_percent, daily_profit_target_percent, .. } = own;
        named.push((format!("risk.bots.{bot}.daily_loss_limit_percent"), *daily_loss_limit_percent));
        named.push((format!("risk.bots.{bot}.daily_profit_target_percent"), *daily_profit_target_percent));
        named.push((format!("risk.bots.{bot}.session_loss_limit_percent"), own.session_loss_limit_percent));
        named.push((
            format!("risk.bots.{bot}.session_profit_target_percent"),
            own.session_profit_target_percent,
        ));
    }
    for (index, bot) in settings.bots.iter().enumerate() {
        if let StakeSettings::Share { percent } = bot.stake {
            named.push((format!("bots[{index}].stake.percent"), percent));
        }
    }
    let least = |key: &str| if key.starts_with("risk.bots.") { 0.1 } else { 1.0 };
    let is_small = |key: &str, value: f64| value > 0.0 && value < least(key);
    let note = |(key, value): (String, f64)| {
        let whole = (value * 1e6).round() / 1e4;
        format!("{key} = {value} is {value} %, less than one in a hundred: did you mean {whole}?")
    };
    named.into_iter().filter(|(key, value)| is_small(key, *value)).map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use candlewick_sdk::MoneyScale;
    use candlewick_sdk::rust_decimal::Decimal;

    fn notes(change: impl Fn(&mut RiskSettings), stake: StakeSettings) -> Vec<String> {
        let mut risk = RiskSettings::default();
        change(&mut risk);
        small_percents(&SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(100),
            risk,
            bots: vec![testing::bot("a", stake)],
            longer_share_percent: None,
        })
    }

    #[test]
    fn a_percentage_below_one_is_named_with_what_may_be_meant() {
        assert_eq!(notes(|risk| risk.daily_loss_limit_percent = 1.0, StakeSettings::default()), [""; 0]);
        let all = notes(
            |risk| {
                risk.daily_loss_limit_percent = 0.07;
                let own = BotLimitSettings {
                    session_loss_limit_percent: 0.05,
                    // A limit that is sane for one of several bots.
                    daily_loss_limit_percent: 0.5,
                    ..BotLimitSettings::default()
                };
                risk.bots.insert("a".to_owned(), own);
            },
            StakeSettings::Share { percent: 0.02 },
        );
        let expected = [
            "risk.daily_loss_limit_percent = 0.07 is 0.07 %, less than one in a hundred: did you mean 7?",
            "risk.bots.a.session_loss_limit_percent = 0.05 is 0.05 %, less than one in a hundred: did you mean 5?",
            "bots[0].stake.percent = 0.02 is 0.02 %, less than one in a hundred: did you mean 2?",
        ];
        assert_eq!(all, expected);
    }
}
