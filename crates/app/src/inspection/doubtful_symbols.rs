//! Symbols as people and other programs write them, and not as venues name them.

use crate::configuration::asset_type_of_bot;
use crate::traded_symbols::usual_spelling;
use candlewick_engine::BotSettings;
use candlewick_history::{AssetType, is_currency_pair};
use candlewick_sdk::Symbol;

/// Warns about a symbol in a spelling that venues do not use.
pub(crate) fn doubtful_symbol(symbol: Symbol) -> Option<String> {
    let name = symbol.as_str();
    let plain = usual_spelling(name);
    (plain != name && !plain.is_empty()).then(|| {
        format!(
            "the symbol {name}: candles and prices are asked for by this very name; a venue that writes pairs as most do has {plain}"
        )
    })
}

/// Warns about a pair of two currencies whose asset type is `crypto`.
pub(super) fn doubtful_asset_type(bot: &BotSettings) -> Option<String> {
    let is_doubtful = asset_type_of_bot(bot) == AssetType::Crypto.as_str() && is_currency_pair(bot.symbol);
    is_doubtful.then(|| {
        format!(
            "bot \"{}\": asset_type = \"crypto\" for {}, a pair of two currencies: venues list these as \"forex\", and find no candles \
             under another type",
            bot.name, bot.symbol
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn crypto_is_noted_for_two_currencies() {
        let note = |symbol: &str, asset_type: &str| {
            let bot = json!({
                "name": "a", "symbol": symbol, "interval": "1m", "strategy": "none", "close_type": "01:00",
                "asset_type": asset_type
            });
            doubtful_asset_type(&serde_json::from_value(bot).unwrap())
        };
        assert!(note("EURUSD", "crypto").unwrap().contains("venues list these as \"forex\""));
        assert!(note("USDMXN", "crypto").is_some());
        for (symbol, asset_type) in
            [("EURUSD", "forex"), ("EURUSD", "otc"), ("BTCUSDT", "crypto"), ("BTCUSD", "crypto")]
        {
            assert_eq!(note(symbol, asset_type), None, "{symbol} {asset_type}");
        }
    }

    #[test]
    fn a_name_that_no_venue_has_is_answered_with_that_of_most() {
        for (name, own) in [
            ("gbpusd", "GBPUSD"),
            ("FX:GBPUSD", "GBPUSD"),
            ("OANDA:eur/usd", "EURUSD"),
            ("GBP/USD", "GBPUSD"),
            ("GBPUSD=X", "GBPUSD"),
        ] {
            let told = doubtful_symbol(Symbol::new(name).unwrap()).unwrap();
            assert!(
                told.starts_with(&format!("the symbol {name}: ")) && told.ends_with(&format!(" has {own}")),
                "{told}"
            );
        }
        for name in ["GBPUSD", "BTCUSDT", "EURUSD-OTC", "US500", "BRK.B"] {
            assert_eq!(doubtful_symbol(Symbol::new(name).unwrap()), None, "{name}");
        }
    }
}
