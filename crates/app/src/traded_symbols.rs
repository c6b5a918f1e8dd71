//! Matching of symbol names in settings to the symbols that the bots trade.

use crate::configuration::Config;
use crate::signals::signal_bots;
use candlewick_engine::{Blackout, BotSettings};
use candlewick_history::{
    AssetType, currency_pair, expected_asset_type, is_currency_pair, is_known_asset_code,
};
use candlewick_runtime::control::SignalBots;
use candlewick_sdk::{Symbol, nearest_name};
use std::collections::{BTreeMap, BTreeSet};

const CHART_SUFFIXES: [&str; 2] = ["=X", ".FX"];

pub(crate) struct TradedSymbols {
    symbols: BTreeSet<Symbol>,
    spellings: SignalBots,
}

impl TradedSymbols {
    pub(crate) fn new(bots: &[BotSettings]) -> Self {
        Self { symbols: bots.iter().map(|bot| bot.symbol).collect(), spellings: signal_bots(bots) }
    }

    pub(crate) fn find(&self, written: &str) -> Option<Symbol> {
        let found = |text: &str| self.spellings.find_symbol(text).and_then(|symbol| symbol.parse().ok());
        found(written).or_else(|| found(&normalize_spelling(written)))
    }

    /// Returns the symbol, or all pairs of a currency such as `USD` (may be empty). `None` if the name is unknown.
    pub(crate) fn find_all(&self, written: &str) -> Option<Vec<Symbol>> {
        if let Some(symbol) = self.find(written) {
            return Some(vec![symbol]);
        }
        let code = written.to_uppercase();
        let is_part = |symbol: &Symbol| {
            currency_pair(*symbol).is_some_and(|(base, quote)| [base, quote].contains(&code))
        };
        let pairs: Vec<Symbol> = self.symbols.iter().copied().filter(is_part).collect();
        (!pairs.is_empty() || is_known_asset_code(&code)).then_some(pairs)
    }

    pub(crate) fn describe_unknown(&self, written: &str) -> String {
        let names = || self.symbols.iter().map(Symbol::as_str);
        // A currency pair is not a misspelling of another pair.
        let is_other_pair = Symbol::new(written).is_ok_and(is_currency_pair);
        match nearest_name(written, names()).filter(|_| !is_other_pair) {
            Some(meant) => format!("no bot trades {written}; did you mean {meant}?"),
            None => {
                format!("no bot trades {written}; the bots trade {}", names().collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// Returns a symbol in the spelling of most venues: `EURUSD` for `FX:eur/usd` and `EUR-USD`.
pub fn normalize_spelling(name: &str) -> String {
    // Charting sites put the data source before the symbol, as in FX:GBPUSD.
    let own = name.rsplit(':').next().unwrap_or(name);
    let own = CHART_SUFFIXES.iter().find_map(|suffix| own.strip_suffix(suffix)).unwrap_or(own);
    let plain = own.replace('/', "").to_uppercase();
    match Symbol::new(&plain) {
        Ok(symbol) if is_currency_pair(symbol) && expected_asset_type(symbol) == AssetType::Crypto => {
            plain.replace(['-', '_'], "")
        }
        _ => plain,
    }
}

pub(crate) fn resolve_symbols(config: &mut Config) -> Result<(), (String, String)> {
    let traded = TradedSymbols::new(&config.bots);
    let (risk, simulation) = (&mut config.risk, &mut config.simulation);
    let find = |name: &str| traded.find(name);
    rename_keys(
        &mut risk.min_payout_percent_by_symbol,
        "risk.min_payout_percent_by_symbol",
        |name: &String| find(name).map(|symbol| symbol.to_string()),
    )?;
    let of_symbol = |name: &Symbol| find(name.as_str());
    rename_keys(&mut simulation.payout_percent_by_symbol, "simulation.payout_percent_by_symbol", of_symbol)?;
    rename_keys(&mut simulation.ticks, "simulation.ticks", of_symbol)?;
    for name in &mut risk.best_payout_of {
        if let Some(symbol) = find(name) {
            *name = symbol.to_string();
        }
    }
    Ok(())
}

pub(crate) fn resolve_blackout_symbols(spans: &mut [Blackout], bots: &[BotSettings]) {
    let traded = TradedSymbols::new(bots);
    for span in spans {
        let mut symbols: Vec<Symbol> = Vec::with_capacity(span.symbols.len());
        for name in &span.symbols {
            // Unknown names are kept, because a blackout without symbols would apply to all symbols.
            let found = traded.find_all(name.as_str()).filter(|found| !found.is_empty());
            for symbol in found.unwrap_or_else(|| vec![*name]) {
                if !symbols.contains(&symbol) {
                    symbols.push(symbol);
                }
            }
        }
        span.symbols = symbols;
    }
}

fn rename_keys<K: Ord + Clone + ToString, V>(
    values: &mut BTreeMap<K, V>,
    key: &str,
    find: impl Fn(&K) -> Option<K>,
) -> Result<(), (String, String)> {
    let mut renamed = BTreeMap::new();
    for (name, value) in std::mem::take(values) {
        let symbol = find(&name).unwrap_or_else(|| name.clone());
        if renamed.insert(symbol.clone(), value).is_some() {
            let key = format!("{key}.{}", name.to_string());
            return Err((key, format!("{} is set twice in different spellings", symbol.to_string())));
        }
    }
    *values = renamed;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::LoadedConfig;
    use crate::error::Result;
    use crate::tests::bot;

    fn traded(symbols: &[&str]) -> TradedSymbols {
        TradedSymbols::new(&symbols.iter().map(|symbol| bot(symbol, "1m")).collect::<Vec<_>>())
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
    fn suggests_a_similar_traded_symbol() {
        let bots = traded(&["EURUSD", "BTCUSDT"]);
        for (written, expected) in [
            ("EURUDS", "no bot trades EURUDS; did you mean EURUSD?"),
            ("AUDUSD", "no bot trades AUDUSD; the bots trade BTCUSDT, EURUSD"),
            ("gold", "no bot trades gold; the bots trade BTCUSDT, EURUSD"),
        ] {
            assert_eq!(bots.describe_unknown(written), expected);
        }
    }

    fn load(settings: &str) -> Result<LoadedConfig> {
        let bot = |symbol: &str| {
            format!(
                "[[bots]]\nname = \"{symbol}\"\nsymbol = \"{symbol}\"\ninterval = \"1m\"\nstrategy = \"none\"\nclose_type = \"01:00\"\n"
            )
        };
        LoadedConfig::from_text(&format!("{settings}\n{}{}", bot("EURUSD"), bot("BTCUSDT")))
    }

    #[test]
    fn resolves_every_spelling_in_settings_by_symbol() {
        let settings = "[risk]\nbest_payout_of = [\"eur/usd\", \"BTC-USDT\"]\n\
                        min_payout_percent_by_symbol = { \"EUR/USD\" = 80.0, GBPUSD = 90.0 }\n\
                        [simulation]\npayout_percent_by_symbol = { eurusd = 85.0 }\nticks = { \"FX:EURUSD\" = 0.00001 }\n";
        let config = load(settings).unwrap().config;
        assert_eq!(config.risk.best_payout_of, ["EURUSD", "BTCUSDT"]);
        let least: Vec<&str> = config.risk.min_payout_percent_by_symbol.keys().map(String::as_str).collect();
        assert_eq!(least, ["EURUSD", "GBPUSD"]);
        let euro = Symbol::new("EURUSD").unwrap();
        assert_eq!(config.simulation.payout_of(euro).to_percent(), 85.0);
        assert_eq!(config.simulation.ticks.get(&euro), Some(&0.000_01));
    }

    #[test]
    fn rejects_a_symbol_that_is_set_twice() {
        let settings = "[risk]\nmin_payout_percent_by_symbol = { EURUSD = 80.0, eurusd = 90.0 }";
        let error = load(settings).unwrap_err().to_string();
        assert!(error.contains("min_payout_percent_by_symbol.eurusd"), "{error}");
        assert!(error.contains("EURUSD is set twice"), "{error}");
    }

    #[test]
    fn resolves_symbols_of_blackouts() {
        let names = |cell: &str| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(&file, format!("from,to,symbols\n2026-01-05,2026-01-06,{cell}\n")).unwrap();
            let config = load(&format!("[risk]\nblackouts = '{}'", file.path().display())).unwrap().config;
            let span = config.risk.blackouts.spans[0].clone();
            span.symbols.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        for (cell, expected) in [
            ("", &[][..]),
            ("EURUSD", &["EURUSD"]),
            ("eur/usd EURUSD", &["EURUSD"]),
            ("USD", &["EURUSD"]),
            ("\"EUR, BTC\"", &["EURUSD", "BTCUSDT"]),
            // Unknown names are kept, since an empty list would mean every symbol.
            ("JPY", &["JPY"]),
            ("EURUDS", &["EURUDS"]),
        ] {
            assert_eq!(names(cell), expected, "{cell}");
        }
    }
}
