//! Notices about payout probes: trades at the minimum stake that reveal the payout of a symbol.

use crate::book::TradeBook;
use crate::{BotSettings, RiskSettings, SessionSettings, StakeSettings};
use candlewick_sdk::Money;
use candlewick_sdk::rust_decimal::Decimal;

/// Returns a notice for each bot that probes unknown payouts at the minimum stake.
///
/// Only bots with a rule that needs to know the payout do so.
pub fn stakes_to_find_out(settings: &SessionSettings) -> Vec<String> {
    let RiskSettings { min_stake, payout_max_age_s, .. } = settings.risk;
    let words = |bot: &BotSettings| {
        // A ladder that begins with the smallest stake has larger ones, and what a share comes to depends on the balance.
        let stakes_more = match bot.stake {
            StakeSettings::Martingale { levels, factor, .. } => levels > 1 && factor > 1.0,
            StakeSettings::Soros { .. } | StakeSettings::Share { .. } | StakeSettings::Kelly { .. } => true,
            StakeSettings::Fixed { .. } => false,
        };
        if !needs_payout(bot, &settings.risk) || !(stakes_more || smallest_of(bot, &settings.risk).is_some())
        {
            return None;
        }
        let (name, symbol) = (&bot.name, bot.symbol);
        let least = money(settings, min_stake);
        let until = if payout_max_age_s == 0 {
            String::new()
        } else {
            format!(", or was seen longer ago than payout_max_age_s ({payout_max_age_s} s),")
        };
        Some(format!(
            "bot \"{name}\": while the payout of {symbol} is not known{until} a signal is traded at the smallest stake, {least}, to find it out, \
             whatever it turns out to be; that trade moves no ladder"
        ))
    };
    settings.bots.iter().filter_map(words).collect()
}

/// Returns a notice for each bot with payout probes in a run, with their number.
pub fn trades_that_found_out(settings: &SessionSettings, book: &TradeBook) -> Vec<String> {
    let words = |(index, bot): (usize, &BotSettings)| {
        let exact = |amount| settings.money_scale.exact(amount).ok();
        let of_share = || {
            let is_share =
                matches!(bot.stake, StakeSettings::Share { .. }) && needs_payout(bot, &settings.risk);
            // A share of the balance is above the smallest stake, unless hardly anything is left.
            is_share
                .then(|| exact(settings.risk.min_stake))
                .flatten()
                .map(|least| least + Money::from_minor(1))
        };
        let smallest = smallest_of(bot, &settings.risk).and_then(exact).or_else(of_share)?;
        let own = book.rows().iter().filter(|row| row.approved.bot().index() == index);
        let (all, small) = own.fold((0_u64, 0_u64), |(all, small), row| {
            (all + 1, small + u64::from(row.approved.stake() < smallest))
        });
        let (name, symbol) = (&bot.name, bot.symbol);
        (small > 0).then(|| {
            format!(
                "bot \"{name}\": {small} of {all} trades staked less than the bot does, to find out what {symbol} pays (risk.payout_max_age_s)"
            )
        })
    };
    settings.bots.iter().enumerate().filter_map(words).collect()
}

/// Returns the smallest stake of the bot's own rule, `None` if a payout probe would not stake less.
fn smallest_of(bot: &BotSettings, risk: &RiskSettings) -> Option<Decimal> {
    let amount = match bot.stake {
        StakeSettings::Fixed { amount }
        | StakeSettings::Martingale { amount, .. }
        | StakeSettings::Soros { amount, .. } => amount,
        // What these stake is not known beforehand.
        StakeSettings::Share { .. } | StakeSettings::Kelly { .. } => return None,
    };
    (needs_payout(bot, risk) && amount > risk.min_stake).then_some(amount)
}

fn needs_payout(bot: &BotSettings, risk: &RiskSettings) -> bool {
    let symbol = bot.symbol.as_str();
    let own = risk.min_payout_percent_by_symbol.get(symbol).copied();
    own.unwrap_or(risk.min_payout_percent) > 0.0
        || risk.best_payout_of.iter().any(|one| one.as_str() == symbol)
}

fn money(settings: &SessionSettings, amount: Decimal) -> String {
    format!("{amount:.*}", settings.money_scale.decimals() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KellyBound;
    use crate::testing;
    use candlewick_sdk::MoneyScale;

    fn notes(change: impl Fn(&mut RiskSettings)) -> Vec<String> {
        let mut risk = RiskSettings::default();
        change(&mut risk);
        stakes_to_find_out(&SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(1_000),
            risk,
            bots: vec![testing::bot("a", StakeSettings::Fixed { amount: Decimal::TWO })],
            longer_share_percent: None,
        })
    }

    #[test]
    fn a_bot_that_would_stake_less_to_find_out_a_payout_is_named_beforehand() {
        let expected = "bot \"a\": while the payout of BTCUSDT is not known, or was seen longer ago than payout_max_age_s (3600 s), a signal is \
                        traded at the smallest stake, 1.00, to find it out, whatever it turns out to be; that trade moves no ladder";
        assert_eq!(notes(|risk| risk.min_payout_percent = 80.0), [expected]);
        let by_symbol = |symbol: &str, least: f64| {
            let symbol = symbol.to_owned();
            move |risk: &mut RiskSettings| {
                risk.min_payout_percent_by_symbol.insert(symbol.clone(), least);
            }
        };
        assert_eq!(notes(by_symbol("BTCUSDT", 80.0)), [expected]);
        assert_eq!(
            notes(|risk| risk.best_payout_of = vec!["BTCUSDT".to_owned(), "ETHUSDT".to_owned()]),
            [expected]
        );
        assert_eq!(notes(by_symbol("ETHUSDT", 80.0)), [""; 0]);
        assert_eq!(notes(|_| {}), [""; 0]);
        // The smallest stake is its own.
        let same = |risk: &mut RiskSettings| (risk.min_payout_percent, risk.min_stake) = (80.0, Decimal::TWO);
        assert_eq!(notes(same), [""; 0]);
    }

    #[test]
    fn a_stake_that_depends_on_the_balance_is_told_as_a_fixed_one_is() {
        let kelly =
            StakeSettings::Kelly { fraction: 0.5, kelly_floor_trades: 100, bound: KellyBound::default() };
        for stake in [StakeSettings::Share { percent: 1.0 }, kelly] {
            let told = |least: f64| {
                let risk = RiskSettings { min_payout_percent: least, ..RiskSettings::default() };
                let bots = vec![testing::bot("a", stake.clone())];
                let (money_scale, balance) = (MoneyScale::default(), Decimal::from(1_000));
                stakes_to_find_out(&SessionSettings {
                    money_scale,
                    balance,
                    risk,
                    bots,
                    longer_share_percent: None,
                })
            };
            assert!(told(82.0).concat().contains("traded at the smallest stake, 1.00"), "{stake:?}");
            assert_eq!(told(0.0), [""; 0], "{stake:?}");
        }
    }
}
