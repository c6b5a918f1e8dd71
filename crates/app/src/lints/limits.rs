//! Lints of stakes, ladders, limits and payouts.

use super::LintInput;
use crate::bots::{build_strategy, minimum_payouts, session_settings};
use crate::configuration::Config;
use candlewick_engine::{
    BotSettings, DailyLadderLimit, IfRefused, LadderEntry, PauseCause, RiskSettings, StakeSettings,
    check_stakes,
};
use candlewick_records::count_text;
use candlewick_sdk::Symbol;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::rust_decimal::prelude::FromPrimitive as _;
use std::collections::BTreeSet;

/// Minimum plausible percentage. A smaller value was probably meant as a fraction.
const MIN_PERCENT: f64 = 1.0;
/// Minimum plausible percentage of a per-bot limit, for which values such as 0.5 % are common.
const MIN_BOT_PERCENT: f64 = 0.1;
/// Minimum payout, in percent, that probably includes the returned stake, such as 185 instead of 85.
const MIN_RETURN_PERCENT: f64 = 120.0;

pub(super) fn ungated_ladders(input: &LintInput<'_>) -> Vec<String> {
    input.check_bots(|bot| {
        let is_ladder = matches!(bot.stake, StakeSettings::Martingale { entry: LadderEntry::NextCandle, .. });
        build_strategy(bot, input.registry).filter(|_| is_ladder)?.gate()?;
        let text = "the ladder with entry = \"next_candle\" keeps staking money while the gate is closed; use \
                    entry = \"next_signal\" to wait for the gate";
        Some(text.to_owned())
    })
}

pub(super) fn interrupted_ladders(input: &LintInput<'_>) -> Vec<String> {
    let risk = &input.loaded.config.risk;
    let costs = check_stakes(&session_settings(input.loaded)).unwrap_or_default();
    input.check_bots(|bot| {
        let StakeSettings::Martingale { levels, entry, if_refused, .. } = bot.stake else { return None };
        if levels < 2 {
            return None;
        }
        let cost = costs.iter().find(|cost| cost.bot == bot.name);
        let causes = interrupting_limits(bot, risk, levels, cost.and_then(|cost| cost.daily_limit.as_ref()));
        let (last, rest) = causes.split_last()?;
        let causes = if rest.is_empty() { last.clone() } else { format!("{} or {last}", rest.join(", ")) };
        let pending = match (entry, if_refused) {
            (LadderEntry::NextSignal, _) => "waits for the next signal",
            (LadderEntry::NextCandle, IfRefused::Wait) => {
                "waits for the next signal instead of the next candle (if_refused = \"reset\" restarts the ladder)"
            }
            (LadderEntry::NextCandle, IfRefused::Reset) => "is dropped and the ladder restarts",
        };
        Some(format!("the ladder of {levels} levels may be interrupted by {causes}; if so, the next level {pending}"))
    })
}

fn interrupting_limits(
    bot: &BotSettings,
    risk: &RiskSettings,
    levels: u32,
    day: Option<&DailyLadderLimit>,
) -> Vec<String> {
    let (own, section) = (risk.bots.get(&bot.name), format!("risk.bots.{}", bot.name));
    let pauses = risk.pauses.iter().filter(|pause| pause.of == PauseCause::Losses);
    let after_losses = if risk.cooldown_after_losses_s > 0 { risk.cooldown_after_losses } else { 0 };
    let losses = pauses.map(|pause| ("risk.pauses".to_owned(), pause.after)).chain([
        ("risk.cooldown_after_loss_s".to_owned(), u32::from(risk.cooldown_after_loss_s > 0)),
        ("risk.cooldown_after_losses".to_owned(), after_losses),
        (format!("{section}.max_loss_streak"), own.map_or(0, |own| own.max_loss_streak)),
        ("risk.max_loss_streak".to_owned(), risk.max_loss_streak),
    ]);
    let losses = losses.filter(|(_, losses)| (1..levels).contains(losses));
    let losses =
        losses.map(|(key, losses)| format!("{key} (after {})", count_text(losses, "loss", "losses")));
    let trades = [
        (format!("{section}.max_trades_per_day"), own.map_or(0, |own| own.max_trades_per_day)),
        ("risk.max_trades_per_day".to_owned(), risk.max_trades_per_day),
        ("risk.max_trades_per_hour".to_owned(), risk.max_trades_per_hour),
    ];
    let unset = [0, RiskSettings::default().max_trades_per_day];
    let trades = trades.into_iter().filter(|(_, most)| !unset.contains(most));
    let day = day.map(|DailyLadderLimit { limit, cost, max_earlier_loss: room, is_own }| {
        let subject = if *is_own { "the bot has" } else { "the bots have" };
        format!("{limit} (once {subject} lost more than {room} in a day, a full ladder of {cost} exceeds it)")
    });
    let hours = (!risk.hours.is_empty()).then(|| "risk.hours".to_owned());
    losses.chain(trades.map(|(key, most)| format!("{key} = {most}"))).chain(day).chain(hours).collect()
}

pub(super) fn small_percentages(input: &LintInput<'_>) -> Vec<String> {
    let Config { risk, bots, .. } = &input.loaded.config;
    let of_all = [
        ("daily_loss_limit_percent", risk.daily_loss_limit_percent),
        ("daily_profit_target_percent", risk.daily_profit_target_percent),
        ("max_drawdown_percent", risk.max_drawdown_percent),
        ("max_stake_percent", risk.max_stake_percent),
        ("session.loss_limit_percent", risk.session.loss_limit_percent),
        ("session.profit_target_percent", risk.session.profit_target_percent),
    ];
    let of_all = of_all.map(|(key, percent)| (format!("risk.{key}"), percent, MIN_PERCENT));
    let of_bots = risk.bots.iter().flat_map(|(name, own)| {
        let limits = [
            ("daily_loss_limit_percent", own.daily_loss_limit_percent),
            ("daily_profit_target_percent", own.daily_profit_target_percent),
            ("session_loss_limit_percent", own.session_loss_limit_percent),
            ("session_profit_target_percent", own.session_profit_target_percent),
        ];
        limits.map(|(key, percent)| (format!("risk.bots.{name}.{key}"), percent, MIN_BOT_PERCENT))
    });
    let stakes = bots.iter().enumerate().filter_map(|(index, bot)| match bot.stake {
        StakeSettings::Share { percent } => {
            Some((format!("bots[{index}].stake.percent"), percent, MIN_PERCENT))
        }
        _ => None,
    });
    let all = of_all.into_iter().chain(of_bots).chain(stakes);
    let small = all.filter(|(_, percent, least)| 0.0 < *percent && percent < least);
    let describe = |(key, percent, _): (String, f64, f64)| {
        let meant = (percent * 1e6).round() / 1e4;
        format!("{key} = {percent} means {percent} %, which is unusually small; did you mean {meant}?")
    };
    small.map(describe).collect()
}

pub(super) fn default_loss_limit(input: &LintInput<'_>) -> Option<String> {
    let Config { risk, account, .. } = &input.loaded.config;
    let (amount, percent) = (risk.daily_loss_limit, risk.daily_loss_limit_percent);
    let share = account.initial_balance * Decimal::from_f64(percent)? / Decimal::ONE_HUNDRED;
    let is_default = amount == RiskSettings::default().daily_loss_limit;
    let decimals = account.money_scale.decimals() as usize;
    (is_default && percent > 0.0 && share > amount).then(|| {
        format!(
            "risk.daily_loss_limit: the default of {amount:.decimals$} is tighter than {percent} % of the balance ({share:.decimals$}), so the \
             default applies; set daily_loss_limit = 0 to use only the percentage"
        )
    })
}

pub(super) fn unlimited_trades(input: &LintInput<'_>) -> Vec<String> {
    let risk = &input.loaded.config.risk;
    let limits = [
        ("max_open_trades", risk.max_open_trades),
        ("max_open_trades_per_symbol", risk.max_open_trades_per_symbol),
    ];
    let describe = |key| format!("risk.{key} = 0 means no limit: any number of trades may be open at once");
    limits.into_iter().filter(|(_, most)| *most == 0).map(|(key, _)| describe(key)).collect()
}

fn break_even_percent(payout_percent: f64) -> f64 {
    100.0 / (1.0 + payout_percent / 100.0)
}

pub(super) fn payouts_above_stake(input: &LintInput<'_>) -> Vec<String> {
    let Config { risk, simulation, bots, .. } = &input.loaded.config;
    let symbols: BTreeSet<Symbol> = bots.iter().map(|bot| bot.symbol).collect();
    let payout = |symbol| (format!("payout of {symbol}"), simulation.payout_of(symbol).to_percent());
    let all = symbols.into_iter().map(payout).chain(minimum_payouts(risk));
    let high = all.filter(|(_, percent)| *percent > 100.0);
    let describe = |(key, percent): (String, f64)| {
        let (rate, profit) = (break_even_percent(percent), percent - 100.0);
        let hint = if percent < MIN_RETURN_PERCENT {
            String::new()
        } else {
            format!("; did you mean {profit}, the profit without the stake?")
        };
        format!(
            "{key}: {percent} % breaks even at a win rate of {rate:.2} %, but few venues pay over 100 %{hint}"
        )
    };
    high.map(describe).collect()
}

pub(super) fn payouts_below_minimum(input: &LintInput<'_>) -> Vec<String> {
    let Config { risk, simulation, .. } = &input.loaded.config;
    input.check_bots(|bot| {
        let (least, key) = minimum_payout(risk, bot.symbol.as_str());
        let pays = simulation.payout_of(bot.symbol).to_percent();
        (pays < least).then(|| {
            format!(
                "{} pays {pays} % in [simulation], less than the minimum of {least} % ({key}); backtests and the \
                 sandbox only open trades of the smallest stake, to probe the payout",
                bot.symbol
            )
        })
    })
}

fn minimum_payout(risk: &RiskSettings, symbol: &str) -> (f64, &'static str) {
    match risk.min_payout_percent_by_symbol.get(symbol) {
        Some(least) => (*least, "risk.min_payout_percent_by_symbol"),
        None => (risk.min_payout_percent, "risk.min_payout_percent"),
    }
}

pub(super) fn unequal_minimum_payouts(input: &LintInput<'_>) -> Option<String> {
    let risk = &input.loaded.config.risk;
    let choice = risk.best_payout_of.iter().map(|symbol| (symbol, minimum_payout(risk, symbol).0));
    let (lowest, least) = choice.clone().min_by(|one, other| one.1.total_cmp(&other.1))?;
    let higher = choice.filter(|(_, own)| *own > least);
    let higher: Vec<String> = higher.map(|(symbol, own)| format!("{symbol} (minimum {own} %)")).collect();
    (!higher.is_empty()).then(|| {
        format!(
            "risk.best_payout_of: if {} pays best but less than its minimum payout, {lowest} (minimum \
             {least} %) is rejected too; use the same minimum payout for all these symbols",
            higher.join(" or ")
        )
    })
}

pub(super) fn gate_payouts(input: &LintInput<'_>) -> Vec<String> {
    input.check_bots(|bot| {
        let asked = bot.params.get("gate")?.get("payout")?.as_f64()?;
        let pays = input.loaded.config.simulation.payout_of(bot.symbol).to_percent();
        (asked > pays).then(|| {
            format!(
                "the gate assumes a payout of {asked} % (break-even win rate {:.2} %), but {} pays {pays} % in [simulation] \
                 (break-even {:.2} %), so trades may lose money while the gate is open; did you mean payout = {pays}?",
                break_even_percent(asked),
                bot.symbol,
                break_even_percent(pays)
            )
        })
    })
}
