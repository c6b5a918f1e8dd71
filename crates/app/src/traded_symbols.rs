//! Names of symbols in settings, matched against the symbols that the bots trade.

use crate::signals::signal_bots;
use candlewick_engine::BotSettings;
use candlewick_history::{AssetType, asset_type_of, is_currency_pair, is_pair_code, pair_of};
use candlewick_runtime::control::SignalBots;
use candlewick_sdk::{Symbol, nearest};
use std::collections::BTreeSet;

const CHART_SUFFIXES: [&str; 2] = ["=X", ".FX"];

pub(crate) struct TradedSymbols {
    symbols: BTreeSet<Symbol>,
    spellings: SignalBots,
}

impl TradedSymbols {
    pub(crate) fn new(bots: &[BotSettings]) -> Self {
        Self { symbols: bots.iter().map(|bot| bot.symbol).collect(), spellings: signal_bots(bots) }
    }

    /// Returns the traded symbol that `written` means: `eur/usd` is `EURUSD`.
    pub(crate) fn find(&self, written: &str) -> Option<Symbol> {
        let found = |text: &str| self.spellings.symbol_of(text).and_then(|symbol| symbol.parse().ok());
        found(written).or_else(|| found(&usual_spelling(written)))
    }

    /// Returns the traded symbols that `written` means: one symbol, or every pair of a currency
    /// such as `USD`. `None` if it is neither; empty for a currency of no traded pair.
    pub(crate) fn find_all(&self, written: &str) -> Option<Vec<Symbol>> {
        if let Some(symbol) = self.find(written) {
            return Some(vec![symbol]);
        }
        let code = written.to_uppercase();
        let is_part =
            |symbol: &Symbol| pair_of(*symbol).is_some_and(|(base, quote)| [base, quote].contains(&code));
        let pairs: Vec<Symbol> = self.symbols.iter().copied().filter(is_part).collect();
        (!pairs.is_empty() || is_pair_code(&code)).then_some(pairs)
    }

    pub(crate) fn describe_unknown(&self, written: &str) -> String {
        let names = || self.symbols.iter().map(Symbol::as_str);
        // One pair of currencies is not a misspelling of another.
        let is_other_pair = Symbol::new(written).is_ok_and(is_currency_pair);
        match nearest(written, names()).filter(|_| !is_other_pair) {
            Some(meant) => format!("no bot trades {written}; did you mean {meant}?"),
            None => format!("no bot trades {written}; there is {}", names().collect::<Vec<_>>().join(", ")),
        }
    }
}

/// Returns a symbol in the spelling of most venues: `FX:eur/usd` and `EUR-USD` are `EURUSD`.
pub fn usual_spelling(name: &str) -> String {
    // A chart names its source: FX:GBPUSD.
    let own = name.rsplit(':').next().unwrap_or(name);
    let own = CHART_SUFFIXES.iter().find_map(|suffix| own.strip_suffix(suffix)).unwrap_or(own);
    let plain = own.replace('/', "").to_uppercase();
    match Symbol::new(&plain) {
        Ok(symbol) if is_currency_pair(symbol) && asset_type_of(symbol) == AssetType::Crypto => {
            plain.replace(['-', '_'], "")
        }
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn traded(symbols: &[&str]) -> TradedSymbols {
        let bot = |symbol: &&str| {
            let bot = json!({ "name": symbol, "symbol": symbol, "interval": "1m", "strategy": "none", "close_type": "01:00" });
            serde_json::from_value::<BotSettings>(bot).unwrap()
        };
        TradedSymbols::new(&symbols.iter().map(bot).collect::<Vec<_>>())
    }

    #[test]
    fn accepts_every_spelling_of_a_traded_symbol_and_currencies() {
        let bots = traded(&["EURUSD", "USDJPY", "BTCUSDT", "GBPUSD-OTC"]);
        for (written, expected) in [
            ("EURUSD", Some(&["EURUSD"][..])),
            ("eur/usd", Some(&["EURUSD"])),
            ("EUR-USD", Some(&["EURUSD"])),
            ("FX:EURUSD", Some(&["EURUSD"])),
            ("EURUSD=X", Some(&["EURUSD"])),
            ("gbpusd_otc", Some(&["GBPUSD-OTC"])),
            ("USD", Some(&["EURUSD", "GBPUSD-OTC", "USDJPY"])),
            ("jpy", Some(&["USDJPY"])),
            ("BTC", Some(&["BTCUSDT"])),
            ("USDT", Some(&["BTCUSDT"])),
            ("CHF", Some(&[])),
            ("EURUDS", None),
            ("GBPUSD", None),
            ("US", None),
            ("all", None),
        ] {
            let found = bots.find_all(written);
            let found: Option<Vec<&str>> = found.as_ref().map(|all| all.iter().map(Symbol::as_str).collect());
            assert_eq!(found.as_deref(), expected, "{written}");
        }
    }

    #[test]
    fn names_the_symbol_that_may_be_meant() {
        let bots = traded(&["EURUSD", "BTCUSDT"]);
        for (written, expected) in [
            ("EURUDS", "no bot trades EURUDS; did you mean EURUSD?"),
            ("AUDUSD", "no bot trades AUDUSD; there is BTCUSDT, EURUSD"),
            ("gold", "no bot trades gold; there is BTCUSDT, EURUSD"),
        ] {
            assert_eq!(bots.describe_unknown(written), expected);
        }
    }
}
