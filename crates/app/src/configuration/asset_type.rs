//! The asset types of the bots' symbols, as the client asks for candles by them.

use candlewick_engine::BotSettings;
use candlewick_sdk::Symbol;
use std::collections::BTreeMap;

/// The asset type of each symbol; of bots on one symbol, that of the first.
pub(crate) fn asset_types(bots: &[BotSettings]) -> BTreeMap<Symbol, String> {
    bots.iter().rev().map(|bot| (bot.symbol, bot.asset_type.clone())).collect()
}
