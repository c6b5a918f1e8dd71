//! The `[[bots]]` section: settings of the engine and of the venue adapter.

use candlewick_engine::BotSettings;
use candlewick_history::asset_type_of;
use candlewick_sdk::Symbol;
use schemars::JsonSchema;
use serde_json::Value;
use std::collections::BTreeMap;

/// The schema of a section `[[bots]]`. [`BotSettings`] is its value, with the keys of the venue as they were written.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct BotSection {
    #[serde(flatten)]
    bot: BotSettings,
    /// What kind of asset the pair is: `crypto`, `forex`, `otc`, or what else the venue offers. Without it the name says:
    /// `forex` for two currencies, `otc` for a name that ends so, else `crypto`.
    #[serde(default)]
    asset_type: String,
}

const ASSET_TYPE: &str = "asset_type";

/// Fills in the default asset type, so that the journal records it.
pub(super) fn set_usual_asset_type(bot: &mut BotSettings) {
    let usual = asset_type_of(bot.symbol).as_str();
    bot.venue.entry(ASSET_TYPE.to_owned()).or_insert_with(|| usual.into());
}

pub(crate) fn asset_type_of_bot(bot: &BotSettings) -> &str {
    bot.venue.get(ASSET_TYPE).and_then(Value::as_str).unwrap_or_else(|| asset_type_of(bot.symbol).as_str())
}

pub(crate) fn asset_types(bots: &[BotSettings]) -> BTreeMap<Symbol, String> {
    bots.iter().rev().map(|bot| (bot.symbol, asset_type_of_bot(bot).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_journal_has_the_asset_type_whether_it_was_written_or_not() {
        for (symbol, written, recorded) in [
            ("BTCUSDT", None, "crypto"),
            ("EURUSD", None, "forex"),
            ("EURUSD.OTC", None, "otc"),
            ("EURUSD", Some("crypto"), "crypto"),
        ] {
            let mut section = json!({ "name": "a", "symbol": symbol, "interval": "1m", "strategy": "s", "close_type": "01:00" });
            section
                .as_object_mut()
                .unwrap()
                .extend(written.map(|kind| ("asset_type".to_owned(), kind.into())));
            let mut bot: BotSettings = serde_json::from_value(section).unwrap();
            set_usual_asset_type(&mut bot);
            assert_eq!(serde_json::to_value(&bot).unwrap()["asset_type"], recorded);
            assert_eq!(asset_types(&[bot])[&symbol.parse().unwrap()], recorded);
        }
    }
}
