//! Trades at the smallest stake, which find out what a symbol pays: a trader should know of them before and after a run.

use crate::book::TradeBook;
use crate::{BotSettings, RiskSettings, SessionSettings, StakeSettings};
use candlewick_sdk::rust_decimal::Decimal;

/// Of each bot whose rules need to know a payout: that it stakes less than its own stake where that is not known.
pub fn stakes_to_find_out(settings: &SessionSettings) -> Vec<String> {
    let RiskSettings { min_stake, payout_max_age_s, .. } = settings.risk;
    let words = |bot: &BotSettings| {
        // A ladder that begins with the smallest stake has larger ones.
        let climbs = match bot.stake {
            StakeSettings::Martingale { levels, factor, .. } => levels > 1 && factor > 1.0,
            StakeSettings::Soros { .. } => true,
            StakeSettings::Fixed { .. } | StakeSettings::Share { .. } | StakeSettings::Kelly { .. } => false,
        };
        if !needs_payout(bot, &settings.risk) || !(climbs || smallest_of(bot, &settings.risk).is_some()) {
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

/// How many of a run's trades those were, by bot.
pub fn trades_that_found_out(settings: &SessionSettings, book: &TradeBook) -> Vec<String> {
    let words = |(index, bot): (usize, &BotSettings)| {
        let smallest = settings.money_scale.exact(smallest_of(bot, &settings.risk)?).ok()?;
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

/// The smallest stake of the bot's own rule, where the rules before an open need to know a payout and would stake less to find it
/// out.
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

/// Whether a rule before an open asks what the bot's symbol pays.
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
}
