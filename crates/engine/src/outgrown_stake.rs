//! Notices about stakes that outgrow `max_stake`, so that all trades of their bot are refused.

use crate::risk::Limits;
use crate::ruin_limits::least_payout;
use crate::{BotSettings, EngineError, IfRefused, SessionSettings, StakeSettings, TradeRecord};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Money, MoneyScale, Payout};

/// Describes each stake that may outgrow `max_stake` at the payouts of the symbols.
///
/// `records` are in the order of the bots.
///
/// # Errors
/// An invalid limit or amount.
pub fn outgrown_stakes(
    settings: &SessionSettings,
    records: &[TradeRecord],
) -> Result<Vec<String>, EngineError> {
    let scale = settings.money_scale;
    let limits = Limits::new(&settings.risk, scale)?;
    let Some(most) = limits.largest_stake().filter(|_| !limits.caps_stakes()) else { return Ok(Vec::new()) };
    let bots = settings.bots.iter().zip(records);
    let described = bots.filter_map(|(bot, record)| match bot.stake {
        StakeSettings::Soros { amount, wins, if_refused: IfRefused::Wait } => {
            let base = limits.step_down(scale.exact(amount).ok()?);
            let payout = least_payout(record.payout, bot, settings);
            let (wins, stake) = first_above(most, (base, wins), payout, |stake| limits.step_down(stake))?;
            Some(of_soros(bot, (wins, stake, most), payout, scale))
        }
        StakeSettings::Share { percent } => {
            let balance = Decimal::try_from(percent).ok().filter(|percent| !percent.is_zero())?;
            let balance = settings.risk.max_stake * Decimal::ONE_HUNDRED / balance;
            (settings.balance <= balance).then(|| of_share(bot, percent, balance, (most, scale)))
        }
        StakeSettings::Fixed { .. }
        | StakeSettings::Martingale { .. }
        | StakeSettings::Soros { if_refused: IfRefused::Reset, .. }
        | StakeSettings::Kelly { .. } => None,
    });
    Ok(described.collect())
}

fn first_above(
    most: Money,
    (base, wins): (Money, u32),
    payout: Payout,
    step_down: impl Fn(Money) -> Money,
) -> Option<(u32, Money)> {
    let mut stake = base;
    (1..=wins).find_map(|won| {
        stake = step_down(stake + stake.profit_at(payout));
        (stake > most).then_some((won, stake))
    })
}

fn of_soros(
    bot: &BotSettings,
    (wins, stake, most): (u32, Money, Money),
    payout: Payout,
    scale: MoneyScale,
) -> String {
    let after = if wins == 1 { "a win".to_owned() } else { format!("{wins} wins in a row") };
    format!(
        "bot \"{}\": after {after} at a payout of {} % its stake {} is above risk.max_stake {}: it opens no trade from then on; \
         if_refused = \"reset\" in its stake restarts the ladder, risk.cap_stakes = true stakes the maximum",
        bot.name,
        payout.to_percent(),
        scale.format(stake),
        scale.format(most)
    )
}

fn of_share(bot: &BotSettings, percent: f64, balance: Decimal, (most, scale): (Money, MoneyScale)) -> String {
    format!(
        "bot \"{}\": with a balance above {} its stake of {percent} % is above risk.max_stake {}: it opens no trade from then on; \
         risk.cap_stakes = true stakes the maximum",
        bot.name,
        balance.round_dp(2),
        scale.format(most)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RiskSettings;
    use crate::testing;

    fn outgrown(stake: StakeSettings, most: i64, change: impl Fn(&mut RiskSettings)) -> String {
        let mut risk = RiskSettings { max_stake: Decimal::from(most), ..RiskSettings::default() };
        change(&mut risk);
        let settings = SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(1_000),
            risk,
            bots: vec![testing::bot("a", stake)],
            longer_share_percent: None,
        };
        let payout = TradeRecord::assumed(Payout::from_parts(800_000).unwrap());
        outgrown_stakes(&settings, &[payout]).unwrap().concat()
    }

    #[test]
    fn names_the_win_after_which_a_soros_is_above_max_stake() {
        let soros = |wins, if_refused| StakeSettings::Soros { amount: Decimal::TEN, wins, if_refused };
        let wait = |wins| soros(wins, IfRefused::Wait);
        // At payout 80: 10.00, 18.00, 32.40.
        let text = outgrown(wait(3), 20, |_| {});
        assert!(
            text.contains("after 2 wins in a row at a payout of 80 % its stake 32.40 is above"),
            "{text}"
        );
        assert!(outgrown(wait(2), 17, |_| {}).contains("after a win at a payout of 80 % its stake 18.00"));
        assert_eq!(outgrown(wait(1), 18, |_| {}), "");
        assert_eq!(outgrown(wait(2), 0, |_| {}), "");
        assert_eq!(outgrown(soros(3, IfRefused::Reset), 20, |_| {}), "");
        assert_eq!(outgrown(wait(3), 20, |risk| risk.cap_stakes = true), "");
        // A symbol is traded at 90 % at least: 10.00, 19.00.
        assert!(outgrown(wait(1), 18, |risk| risk.min_payout_percent = 90.0).contains("its stake 19.00"));
    }

    #[test]
    fn names_the_balance_above_which_a_share_is_above_max_stake() {
        let share = |percent| StakeSettings::Share { percent };
        assert!(outgrown(share(2.0), 25, |_| {}).contains("with a balance above 1250 its stake of 2 %"));
        // It starts above: the first stake is refused.
        assert_eq!(outgrown(share(2.0), 19, |_| {}), "");
        assert_eq!(outgrown(share(2.0), 25, |risk| risk.cap_stakes = true), "");
    }
}
