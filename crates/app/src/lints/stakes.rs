//! Lints of stakes and ladders.

use super::LintInput;
use crate::bots::{gates_of, session_settings};
use crate::inspection::assumed_payouts;
use candlewick_engine::{
    BotSettings, IfRefused, LadderEntry, LadderInDay, PauseCause, RiskSettings, StakeSettings,
    check_first_stakes, check_stakes, levels_that_lose, stakes_to_find_out,
};

pub(super) fn losing_levels(input: &LintInput<'_>) -> Vec<String> {
    let settings = session_settings(input.loaded);
    levels_that_lose(&settings, &assumed_payouts(input.loaded)).unwrap_or_default()
}

pub(super) fn probing_stakes(input: &LintInput<'_>) -> Vec<String> {
    stakes_to_find_out(&session_settings(input.loaded))
}

pub(super) fn unaffordable_stakes(input: &LintInput<'_>) -> Vec<String> {
    // A stake that no balance allows is refused elsewhere.
    check_first_stakes(&session_settings(input.loaded)).unwrap_or_default()
}

pub(super) fn outgrown_stakes(input: &LintInput<'_>) -> Vec<String> {
    let settings = session_settings(input.loaded);
    candlewick_engine::outgrown_stakes(&settings, &assumed_payouts(input.loaded)).unwrap_or_default()
}

pub(super) fn ungated_ladders(input: &LintInput<'_>) -> Vec<String> {
    let gates = gates_of(input.bots(), input.registry);
    let bots = input.bots().iter().zip(gates).filter(|(bot, gate)| {
        let entry = LadderEntry::NextCandle;
        gate.is_some() && matches!(bot.stake, StakeSettings::Martingale { entry: own, .. } if own == entry)
    });
    let describe = |(bot, _): (&BotSettings, _)| {
        format!(
            "bot \"{}\": its ladder with entry = \"next_candle\" continues while the gate is closed, with money; entry = \
             \"next_signal\" waits for the gate",
            bot.name
        )
    };
    bots.map(describe).collect()
}

pub(super) fn interrupted_ladders(input: &LintInput<'_>) -> Vec<String> {
    let risk = &input.loaded.config.risk;
    let costs = check_stakes(&session_settings(input.loaded)).unwrap_or_default();
    input.each_bot(|bot| {
        let StakeSettings::Martingale { levels, entry, if_refused, .. } = bot.stake else { return None };
        if levels < 2 {
            return None;
        }
        let cost = costs.iter().find(|cost| cost.bot == bot.name);
        let causes = [
            loss_counts(bot, risk, levels),
            trade_counts(bot, risk),
            cost.and_then(|cost| cost.day.as_ref()).map(describe_day).into_iter().collect(),
            (!risk.hours.is_empty()).then(|| "risk.hours".to_owned()).into_iter().collect(),
        ];
        let causes = causes.concat();
        let (last, others) = causes.split_last()?;
        let causes =
            if others.is_empty() { last.clone() } else { format!("{} or {last}", others.join(", ")) };
        let pending = match (entry, if_refused) {
            (LadderEntry::NextSignal, _) => "waits for the next signal",
            (LadderEntry::NextCandle, IfRefused::Wait) => {
                "is not opened with the next candle but with the next signal (if_refused = \"reset\" restarts the ladder)"
            }
            (LadderEntry::NextCandle, IfRefused::Reset) => "is dropped and the ladder restarts",
        };
        Some(format!("its ladder of {levels} levels may be interrupted by {causes}; the next level then {pending}"))
    })
}

fn loss_counts(bot: &BotSettings, risk: &RiskSettings, levels: u32) -> Vec<String> {
    let pauses = risk.pauses.iter().filter(|pause| pause.of == PauseCause::Losses);
    let mut counts: Vec<(String, u32)> =
        pauses.map(|pause| ("risk.pauses".to_owned(), pause.after)).collect();
    if risk.cooldown_after_loss_s > 0 {
        counts.push(("risk.cooldown_after_loss_s".to_owned(), 1));
    }
    if risk.cooldown_after_losses_s > 0 {
        counts.push(("risk.cooldown_after_losses".to_owned(), risk.cooldown_after_losses));
    }
    let own = risk.bots.get(&bot.name).map_or(0, |own| own.max_loss_streak);
    counts.push((format!("risk.bots.{}.max_loss_streak", bot.name), own));
    counts.push(("risk.max_loss_streak".to_owned(), risk.max_loss_streak));
    counts.retain(|(_, losses)| (1..levels).contains(losses));
    let describe = |(key, losses): (String, u32)| {
        format!("{key} (after {losses} {})", if losses == 1 { "loss" } else { "losses" })
    };
    counts.into_iter().map(describe).collect()
}

fn trade_counts(bot: &BotSettings, risk: &RiskSettings) -> Vec<String> {
    let default = RiskSettings::default().max_trades_per_day;
    let own = risk.bots.get(&bot.name).map_or(0, |own| own.max_trades_per_day);
    let limits = [
        (format!("risk.bots.{}.max_trades_per_day", bot.name), own),
        ("risk.max_trades_per_day".to_owned(), risk.max_trades_per_day),
        ("risk.max_trades_per_hour".to_owned(), risk.max_trades_per_hour),
    ];
    let is_set = |most: u32| most > 0 && most != default;
    let limits = limits.into_iter().filter(|(_, most)| is_set(*most));
    limits.map(|(key, most)| format!("{key} = {most}")).collect()
}

fn describe_day(LadderInDay { limit, cost, room, is_own }: &LadderInDay) -> String {
    let subject = if *is_own { "the bot has" } else { "all bots have" };
    format!("{limit} (once {subject} lost more than {room} in a day, as a ladder costs {cost})")
}
