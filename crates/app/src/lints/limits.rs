//! Lints of limits and payouts.

use super::LintInput;
use crate::configuration::Config;
use candlewick_engine::{RiskSettings, StakeSettings};
use candlewick_sdk::Symbol;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::rust_decimal::prelude::FromPrimitive as _;
use std::collections::BTreeSet;

/// Percentage below which a fraction was probably meant.
const MIN_PERCENT: f64 = 1.0;
/// Like [`MIN_PERCENT`], for limits of a single bot.
///
/// Half a percent is common there.
const MIN_BOT_PERCENT: f64 = 0.1;
/// Payout above which the stake is probably included: 185 instead of 85.
const MIN_RETURN_PERCENT: f64 = 120.0;

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
        format!("{key} = {percent} is {percent} %, less than one in a hundred; did you mean {meant}?")
    };
    small.map(describe).collect()
}

pub(super) fn default_loss_limit(input: &LintInput<'_>) -> Vec<String> {
    let Config { risk, account, .. } = &input.loaded.config;
    let (amount, percent) = (risk.daily_loss_limit, risk.daily_loss_limit_percent);
    let share =
        Decimal::from_f64(percent).map(|percent| account.initial_balance * percent / Decimal::ONE_HUNDRED);
    let is_default = amount == RiskSettings::default().daily_loss_limit;
    let Some(share) = share.filter(|share| is_default && percent > 0.0 && *share > amount) else {
        return Vec::new();
    };
    let decimals = account.money_scale.decimals() as usize;
    vec![format!(
        "risk.daily_loss_limit: the default of {amount:.decimals$} is tighter than {percent} % of the balance ({share:.decimals$}), so the \
         default holds; daily_loss_limit = 0 keeps only the percentage"
    )]
}

pub(super) fn unlimited_trades(input: &LintInput<'_>) -> Vec<String> {
    let risk = &input.loaded.config.risk;
    let limits = [
        ("max_open_trades", risk.max_open_trades),
        ("max_open_trades_per_symbol", risk.max_open_trades_per_symbol),
    ];
    let unlimited = limits.into_iter().filter(|(_, most)| *most == 0);
    let describe = |(key, _): (&str, u32)| {
        format!("risk.{key} = 0 means no limit: any number of trades may be open at once")
    };
    unlimited.map(describe).collect()
}

fn break_even(payout_percent: f64) -> f64 {
    100.0 / (1.0 + payout_percent / 100.0)
}

pub(super) fn payouts_above_stake(input: &LintInput<'_>) -> Vec<String> {
    let Config { risk, simulation, bots, .. } = &input.loaded.config;
    let symbols: BTreeSet<Symbol> = bots.iter().map(|bot| bot.symbol).collect();
    let assumed = symbols
        .into_iter()
        .map(|symbol| (format!("payout of {symbol}"), simulation.payout_of(symbol).to_percent()));
    let by_symbol = risk.min_payout_percent_by_symbol.iter();
    let by_symbol =
        by_symbol.map(|(symbol, least)| (format!("risk.min_payout_percent_by_symbol.{symbol}"), *least));
    let least = std::iter::once(("risk.min_payout_percent".to_owned(), risk.min_payout_percent));
    let high = assumed.chain(least).chain(by_symbol).filter(|(_, percent)| *percent > 100.0);
    let describe = |(key, percent): (String, f64)| {
        let (rate, profit) = (break_even(percent), percent - 100.0);
        let hint = if percent < MIN_RETURN_PERCENT {
            String::new()
        } else {
            format!("; did you mean {profit}, the profit without the stake?")
        };
        format!(
            "{key}: {percent} % is more than the stake and breaks even at {rate:.2} % of wins, and few venues pay above 100 %{hint}"
        )
    };
    high.map(describe).collect()
}

pub(super) fn payouts_below_minimum(input: &LintInput<'_>) -> Vec<String> {
    let Config { risk, simulation, .. } = &input.loaded.config;
    input.each_bot(|bot| {
        let own = risk.min_payout_percent_by_symbol.get(bot.symbol.as_str());
        let (least, key) = own.map_or((risk.min_payout_percent, "risk.min_payout_percent"), |least| {
            (*least, "risk.min_payout_percent_by_symbol")
        });
        let pays = simulation.payout_of(bot.symbol).to_percent();
        (pays < least).then(|| {
            format!(
                "{} pays {pays} % by [simulation], less than the {least} % of {key}: a backtest and the sandbox only open trades at the \
                 smallest stake, to learn the payout",
                bot.symbol
            )
        })
    })
}

pub(super) fn unequal_minimum_payouts(input: &LintInput<'_>) -> Vec<String> {
    let risk = &input.loaded.config.risk;
    let least = |symbol: &String| {
        risk.min_payout_percent_by_symbol.get(symbol).copied().unwrap_or(risk.min_payout_percent)
    };
    let choice = &risk.best_payout_of;
    let Some(lowest) = choice.iter().min_by(|one, other| least(one).total_cmp(&least(other))) else {
        return Vec::new();
    };
    let higher: Vec<String> = choice
        .iter()
        .filter(|symbol| least(symbol) > least(lowest))
        .map(|symbol| format!("{symbol} ({} %)", least(symbol)))
        .collect();
    if higher.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "risk.best_payout_of: while {} pays best but below its minimum, {lowest} ({} %) is refused too, so none trades; use one minimum payout \
         for the whole choice",
        higher.join(" or "),
        least(lowest)
    )]
}

pub(super) fn gate_payouts(input: &LintInput<'_>) -> Vec<String> {
    input.each_bot(|bot| {
        let asked = bot.params.get("gate")?.get("payout")?.as_f64()?;
        let pays = input.loaded.config.simulation.payout_of(bot.symbol).to_percent();
        (asked > pays).then(|| {
            format!(
                "its gate opens for an edge at a payout of {asked} %, which breaks even at {:.2} % of wins; {} pays {pays} % by [simulation], \
                 which does at {:.2} %, so trades of an open gate may lose; did you mean payout = {pays}?",
                break_even(asked),
                bot.symbol,
                break_even(pays)
            )
        })
    })
}
