//! What bots that combine strategies are made of, in a line each.

use candlewick_engine::BotSettings;
use candlewick_rules::combine;
use candlewick_sdk::Registry;

/// Of each such bot: its parts, how they decide, its filters, and whether it is turned round.
pub(crate) fn combinations_of(bots: &[BotSettings], registry: &Registry) -> Vec<String> {
    let combining = bots.iter().filter(|bot| bot.strategy == combine::NAME);
    let words = |bot: &BotSettings| {
        let entry = registry.find(&bot.strategy)?.for_params(&bot.params).ok()?;
        Some(format!("{}: {}", bot.name, entry.about))
    };
    combining.filter_map(words).collect()
}
