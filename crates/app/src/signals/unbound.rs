//! Parts of a combination that external signals bypass: inversion, filters and expiry.

use crate::configuration::Loaded;
use candlewick_engine::BotSettings;

pub fn unbound_signals(loaded: &Loaded) -> Vec<String> {
    let signals = &loaded.config.signals;
    if signals.list.is_none() && signals.listen.is_none() && !signals.stdin {
        return Vec::new();
    }
    loaded.config.bots.iter().filter_map(words_of).collect()
}

pub(super) fn words_of(bot: &BotSettings) -> Option<String> {
    if bot.strategy != "combine" {
        return None;
    }
    let params = &bot.params;
    let turns = params.get("invert").and_then(serde_json::Value::as_bool) == Some(true);
    let has_filters =
        params.get("filters").and_then(|filters| filters.as_array()).is_some_and(|all| !all.is_empty());
    let own = bot.close_type.to_string();
    let expiry = params.get("expiry").and_then(|expiry| expiry.as_str()).filter(|expiry| *expiry != own);
    let parts = [
        turns.then(|| "are not turned round (invert)".to_owned()),
        has_filters.then(|| "pass its filters unasked".to_owned()),
        expiry.map(|expiry| format!("last {own} (close_type), not {expiry} (expiry)")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let (last, before) = parts.split_last()?;
    let parts = if before.is_empty() { last.clone() } else { format!("{} and {last}", before.join(", ")) };
    Some(format!("bot \"{}\": signals from outside {parts}", bot.name))
}
