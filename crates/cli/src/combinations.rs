//! One-line descriptions of bots that combine strategies.

use candlewick_app::bots;
use candlewick_engine::{BotSettings, LadderEntry, StakeSettings};
use candlewick_rules::combine;
use candlewick_sdk::{GateView, Registry};

pub(crate) fn combinations_of(bots: &[BotSettings], registry: &Registry) -> Vec<String> {
    let combining = bots.iter().filter(|bot| bot.strategy == combine::NAME);
    let words = |bot: &BotSettings| {
        let entry = registry.find(&bot.strategy)?.for_params(&bot.params).ok()?;
        Some(format!("{}: {}", bot.name, entry.about))
    };
    combining.filter_map(words).collect()
}

pub(crate) fn gates_of(bots: &[BotSettings], registry: &Registry) -> Vec<String> {
    let gates = bots.iter().zip(bots::gates_of(bots, registry));
    let words = |(bot, gate): (&BotSettings, Option<GateView>)| {
        let GateView { rule, history, .. } = gate?;
        let goes_on = matches!(bot.stake, StakeSettings::Martingale { entry: LadderEntry::NextCandle, .. });
        let ladder = if goes_on { "; its ladder goes on while it is closed" } else { "" };
        let learns = format!("; it learns how it stands from the {history} candles before its first signal");
        let learns = if history > 0 { learns } else { String::new() };
        Some(format!("{}: {rule}{ladder}{learns}", bot.name))
    };
    gates.filter_map(words).collect()
}
