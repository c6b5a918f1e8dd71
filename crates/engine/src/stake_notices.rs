//! Notices about stakes: payout probes, stakes that may exceed their maximum, and unprofitable ladder levels.

use crate::risk::Limits;
use crate::ruin_limits::lowest_payout;
use crate::stake::Stake;
use crate::{
    BotSettings, EngineError, IfRefused, RiskSettings, SessionSettings, StakeSettings, TrackRecord, TradeBook,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Money, MoneyScale, Payout};

/// Returns a notice for each bot that made payout probes in a run, with the number of probes.
pub fn payout_probe_count_notices(settings: &SessionSettings, book: &TradeBook) -> Vec<String> {
    let notice = |(index, bot): (usize, &BotSettings)| {
        let exact = |amount| settings.money_scale.convert_exact(amount).ok();
        let of_share = || {
            let is_share =
                matches!(bot.stake, StakeSettings::Share { .. }) && needs_payout(bot, &settings.risk);
            // A share of the balance is above the minimum stake unless hardly any balance is left.
            is_share
                .then(|| exact(settings.risk.min_stake))
                .flatten()
                .map(|least| least + Money::from_minor(1))
        };
        let smallest = lowest_stake(bot, &settings.risk).and_then(exact).or_else(of_share)?;
        let own = book.rows().iter().filter(|row| row.approved.bot().index() == index);
        let (all, small) = own.fold((0_u64, 0_u64), |(all, small), row| {
            (all + 1, small + u64::from(row.approved.stake() < smallest))
        });
        let (name, symbol) = (&bot.name, bot.symbol);
        (small > 0).then(|| {
            format!(
                "bot \"{name}\": {small} of {all} trades probed the payout of {symbol} at the minimum stake, because \
                 the payout was unknown or older than risk.payout_max_age_s"
            )
        })
    };
    settings.bots.iter().enumerate().filter_map(notice).collect()
}

/// Returns the bot's lowest stake apart from payout probes, `None` if it is unknown or does not exceed a probe's stake.
fn lowest_stake(bot: &BotSettings, risk: &RiskSettings) -> Option<Decimal> {
    let amount = match bot.stake {
        StakeSettings::Fixed { amount }
        | StakeSettings::Martingale { amount, .. }
        | StakeSettings::Soros { amount, .. } => amount,
        // These stakes are not known in advance.
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

/// Returns a notice for each bot whose stake may grow above `max_stake`.
/// `records` contain the payouts of the symbols, in bot order.
pub fn excessive_stake_notices(
    settings: &SessionSettings,
    records: &[TrackRecord],
) -> Result<Vec<String>, EngineError> {
    let scale = settings.money_scale;
    let limits = Limits::new(&settings.risk, scale)?;
    let Some(most) = limits.largest_stake().filter(|_| !limits.cap_stakes) else { return Ok(Vec::new()) };
    let bots = settings.bots.iter().zip(records);
    let described = bots.filter_map(|(bot, record)| match bot.stake {
        StakeSettings::Soros { amount, wins, if_refused: IfRefused::Wait } => {
            let base = limits.round_down_to_step(scale.convert_exact(amount).ok()?);
            let payout = lowest_payout(record.payout, bot, settings);
            let (wins, stake) =
                find_first_stake_above(most, (base, wins), payout, |stake| limits.round_down_to_step(stake))?;
            Some(describe_soros(bot, (wins, stake, most), payout, scale))
        }
        StakeSettings::Share { percent } => {
            let balance = Decimal::try_from(percent).ok().filter(|percent| !percent.is_zero())?;
            let balance = settings.risk.max_stake * Decimal::ONE_HUNDRED / balance;
            (settings.balance <= balance).then(|| describe_share(bot, percent, balance, (most, scale)))
        }
        StakeSettings::Fixed { .. }
        | StakeSettings::Martingale { .. }
        | StakeSettings::Soros { if_refused: IfRefused::Reset, .. }
        | StakeSettings::Kelly { .. } => None,
    });
    Ok(described.collect())
}

fn find_first_stake_above(
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

fn describe_soros(
    bot: &BotSettings,
    (wins, stake, most): (u32, Money, Money),
    payout: Payout,
    scale: MoneyScale,
) -> String {
    let after = if wins == 1 { "a win".to_owned() } else { format!("{wins} wins in a row") };
    format!(
        "bot \"{}\": after {after} at a payout of {} %, the stake of {} is above risk.max_stake = {}, so the bot \
         stops trading. Set if_refused = \"reset\" to restart the ladder, or risk.cap_stakes = true to cap the stake",
        bot.name,
        payout.to_percent(),
        scale.format(stake),
        scale.format(most)
    )
}

fn describe_share(
    bot: &BotSettings,
    percent: f64,
    balance: Decimal,
    (most, scale): (Money, MoneyScale),
) -> String {
    format!(
        "bot \"{}\": at a balance above {}, the stake of {percent} % is above risk.max_stake = {}, so the bot stops \
         trading. Set risk.cap_stakes = true to cap the stake",
        bot.name,
        balance.round_dp(2),
        scale.format(most)
    )
}

const MAX_LISTED_LEVELS: usize = 4;

/// Returns a notice for each ladder with levels on which a win does not recover the previous losses.
/// The notice states the result of a win on each of these levels. `records` contain the payouts, in bot order.
pub fn unprofitable_level_notices(
    settings: &SessionSettings,
    records: &[TrackRecord],
) -> Result<Vec<String>, EngineError> {
    let scale = settings.money_scale;
    let mut lines = Vec::new();
    for (index, (bot, record)) in settings.bots.iter().zip(records).enumerate() {
        let StakeSettings::Martingale { factor, .. } = bot.stake else { continue };
        let stakes = Stake::new(&bot.stake, scale, &format!("bots[{index}].stake"))?.level_stakes();
        let payout = lowest_payout(record.payout, bot, settings);
        let left = net_win_by_level(&stakes, payout).into_iter().enumerate();
        let short: Vec<(usize, Money)> = left.filter(|(_, left)| *left < Money::ZERO).collect();
        if short.is_empty() {
            continue;
        }
        let wins_back = ((1.0 + 1.0 / payout.to_fraction()) * 100.0).ceil() / 100.0;
        lines.push(format!(
            "bot \"{}\": at a payout of {} % a win {}, because factor = {factor} does not recover the losses of the \
             lower levels. Use factor = {wins_back}",
            bot.name,
            payout.to_percent(),
            describe_levels(&short, scale)
        ));
    }
    Ok(lines)
}

fn net_win_by_level(stakes: &[Money], payout: Payout) -> Vec<Money> {
    let mut lost = Money::ZERO;
    let left = |stake: &Money| {
        let left = stake.profit_at(payout) - lost;
        lost += *stake;
        left
    };
    stakes.iter().map(left).collect()
}

fn describe_levels(short: &[(usize, Money)], scale: MoneyScale) -> String {
    let one =
        |(index, left): &(usize, Money)| format!("on level {} results in {}", index + 1, scale.format(*left));
    let shown: Vec<String> = short.iter().take(MAX_LISTED_LEVELS).map(one).collect();
    let more = if short.len() > MAX_LISTED_LEVELS { " and so on" } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LadderEntry, testing};
    use serde_json::json;

    #[test]
    fn probes_are_below_the_lowest_stake_only_if_a_limit_needs_the_payout() {
        let own = |symbol: &str| json!({ "min_payout_percent_by_symbol": { symbol: 80.0 } });
        let bot = testing::bot("a", StakeSettings::Fixed { amount: Decimal::TWO });
        for (keys, expected) in [
            (json!({ "min_payout_percent": 80.0 }), Some(Decimal::TWO)),
            (own("BTCUSDT"), Some(Decimal::TWO)),
            (json!({ "best_payout_of": ["BTCUSDT", "ETHUSDT"] }), Some(Decimal::TWO)),
            (own("ETHUSDT"), None),
            (json!({}), None),
            (json!({ "min_payout_percent": 80.0, "min_stake": 2 }), None),
        ] {
            let settings = testing::settings(1_000, testing::with_keys(&keys), vec![bot.clone()]);
            assert_eq!(lowest_stake(&bot, &settings.risk), expected, "{keys}");
        }
    }

    fn outgrown(stake: StakeSettings, most: i64, change: impl Fn(&mut RiskSettings)) -> String {
        let limited = |risk: &mut RiskSettings| {
            risk.max_stake = Decimal::from(most);
            change(risk);
        };
        let settings = testing::settings(1_000, limited, vec![testing::bot("a", stake)]);
        let payout = TrackRecord::from_assumed_payout(Payout::from_parts(800_000).unwrap());
        excessive_stake_notices(&settings, &[payout]).unwrap().concat()
    }

    #[test]
    fn names_the_win_after_which_a_soros_stake_is_above_max_stake() {
        let soros = |wins, if_refused| StakeSettings::Soros { amount: Decimal::TEN, wins, if_refused };
        let wait = |wins| soros(wins, IfRefused::Wait);
        // At a payout of 80 %: 10.00, 18.00, 32.40.
        let words = "after 2 wins in a row at a payout of 80 %, the stake of 32.40 is above";
        assert!(outgrown(wait(3), 20, |_| {}).contains(words));
        assert!(outgrown(wait(2), 17, |_| {}).contains("a win at a payout of 80 %, the stake of 18.00"));
        assert_eq!(outgrown(wait(1), 18, |_| {}), "");
        assert_eq!(outgrown(wait(2), 0, |_| {}), "");
        assert_eq!(outgrown(soros(3, IfRefused::Reset), 20, |_| {}), "");
        assert_eq!(outgrown(wait(3), 20, |risk| risk.cap_stakes = true), "");
        // Minimum payout of 90 %: 10.00, 19.00.
        assert!(outgrown(wait(1), 18, |risk| risk.min_payout_percent = 90.0).contains("the stake of 19.00"));
    }

    #[test]
    fn names_the_balance_above_which_a_share_is_above_max_stake() {
        let share = |percent| StakeSettings::Share { percent };
        assert!(outgrown(share(2.0), 25, |_| {}).contains("at a balance above 1250, the stake of 2 %"));
        assert_eq!(outgrown(share(2.0), 19, |_| {}), "");
        assert_eq!(outgrown(share(2.0), 25, |risk| risk.cap_stakes = true), "");
    }

    fn lines(factor: f64, levels: u32, percent: i64) -> Vec<String> {
        let (entry, if_refused) = (LadderEntry::NextSignal, IfRefused::Wait);
        let stake = StakeSettings::Martingale { amount: Decimal::TEN, factor, levels, entry, if_refused };
        let settings = testing::settings(1_000, |_| {}, vec![testing::bot("b", stake)]);
        let payout = Payout::from_percent(Decimal::from(percent)).unwrap();
        unprofitable_level_notices(&settings, &[TrackRecord::from_assumed_payout(payout)]).unwrap()
    }

    /// Hand-computed: 10, 15, 22.50 win 8.50, 12.75 and 19.12, after losses of 0, 10 and 25.
    #[test]
    fn names_levels_whose_win_does_not_recover_the_losses() {
        let expected = "bot \"b\": at a payout of 85 % a win on level 3 results in -5.88, because factor = 1.5 does \
                        not recover the losses of the lower levels. Use factor = 2.18";
        assert_eq!(lines(1.5, 3, 85), [expected]);
        assert_eq!(lines(1.5, 2, 85), [""; 0]);
        // 10 to 160 win 8, 16, 32, 64, 128 at 80 %, after losses of 0, 10, 30, 70, 150.
        let doubled = lines(2.0, 5, 80).concat();
        let left = "a win on level 4 results in -6.00, on level 5 results in -22.00, because";
        assert!(doubled.contains(left), "{doubled}");
        assert!(doubled.ends_with("Use factor = 2.25"), "{doubled}");
        assert_eq!(lines(2.25, 6, 80), [""; 0], "the suggested factor");
        assert_eq!(lines(2.18, 6, 85), [""; 0]);
    }
}
