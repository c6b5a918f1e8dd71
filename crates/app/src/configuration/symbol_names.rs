//! Normalization of symbol names to traded symbols: `eur/usd` is `EURUSD` everywhere.
//!
//! Names that no bot trades are left unchanged. Starts and `config check` reject those that would
//! protect nothing.

use super::Config;
use crate::traded_symbols::TradedSymbols;
use candlewick_engine::{Blackout, BotSettings};
use candlewick_sdk::Symbol;
use std::collections::BTreeMap;

pub(super) fn resolve(config: &mut Config) -> Result<(), (String, String)> {
    let traded = TradedSymbols::new(&config.bots);
    let (risk, simulation) = (&mut config.risk, &mut config.simulation);
    let find = |name: &str| traded.find(name);
    rename(&mut risk.min_payout_percent_by_symbol, "risk.min_payout_percent_by_symbol", |name: &String| {
        find(name).map(|symbol| symbol.to_string())
    })?;
    let of_symbol = |name: &Symbol| find(name.as_str());
    rename(&mut simulation.payout_percent_by_symbol, "simulation.payout_percent_by_symbol", of_symbol)?;
    rename(&mut simulation.ticks, "simulation.ticks", of_symbol)?;
    for name in &mut risk.best_payout_of {
        if let Some(symbol) = find(name) {
            *name = symbol.to_string();
        }
    }
    Ok(())
}

pub(super) fn resolve_spans(spans: &mut [Blackout], bots: &[BotSettings]) {
    let traded = TradedSymbols::new(bots);
    for span in spans {
        resolve_span(span, &traded);
    }
}

/// Normalizes the names of a span.
///
/// A currency without a traded pair is kept, because a span without symbols applies to all of them.
fn resolve_span(span: &mut Blackout, traded: &TradedSymbols) {
    let mut symbols: Vec<Symbol> = Vec::with_capacity(span.symbols.len());
    for name in &span.symbols {
        let found = traded.find_all(name.as_str()).filter(|found| !found.is_empty());
        for symbol in found.unwrap_or_else(|| vec![*name]) {
            if !symbols.contains(&symbol) {
                symbols.push(symbol);
            }
        }
    }
    span.symbols = symbols;
}

fn rename<K: Ord + Clone + ToString, V>(
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
    use super::super::{Base, Flag, Loaded};
    use crate::error::AppError;
    use candlewick_sdk::Symbol;

    /// A configuration with bots on EURUSD and BTCUSDT, and the blackouts of this file.
    fn load(settings: &str, blackouts: &str) -> Result<Loaded, AppError> {
        let folder = tempfile::tempdir().unwrap();
        let (file, news) = (folder.path().join("bot.toml"), folder.path().join("news.csv"));
        std::fs::write(&news, blackouts).unwrap();
        let bot = |symbol: &str| {
            format!(
                "[[bots]]\nname = \"{symbol}\"\nsymbol = \"{symbol}\"\ninterval = \"1m\"\nstrategy = \"none\"\nclose_type = \"01:00\"\n"
            )
        };
        let settings = settings.replace("NEWS", &news.display().to_string());
        std::fs::write(&file, format!("{settings}\n{}{}", bot("EURUSD"), bot("BTCUSDT"))).unwrap();
        Loaded::read(&[file], Base::Bare, Vec::<Flag>::new())
    }

    #[test]
    fn settings_by_symbol_take_every_spelling() {
        let settings = "[risk]\nbest_payout_of = [\"eur/usd\", \"BTC-USDT\"]\n\
                        min_payout_percent_by_symbol = { \"EUR/USD\" = 80.0, GBPUSD = 90.0 }\n\
                        [simulation]\npayout_percent_by_symbol = { eurusd = 85.0 }\nticks = { \"FX:EURUSD\" = 0.00001 }\n";
        let config = load(settings, "from,to\n").unwrap().config;
        assert_eq!(config.risk.best_payout_of, ["EURUSD", "BTCUSDT"]);
        let least: Vec<&str> = config.risk.min_payout_percent_by_symbol.keys().map(String::as_str).collect();
        assert_eq!(least, ["EURUSD", "GBPUSD"]);
        let euro = Symbol::new("EURUSD").unwrap();
        assert_eq!(config.simulation.payout_of(euro).to_percent(), 85.0);
        assert_eq!(config.simulation.ticks.get(&euro), Some(&0.000_01));
    }

    #[test]
    fn refuses_a_symbol_that_is_set_twice() {
        let settings = "[risk]\nmin_payout_percent_by_symbol = { EURUSD = 80.0, eurusd = 90.0 }";
        let error = load(settings, "from,to\n").unwrap_err().to_string();
        assert!(error.contains("min_payout_percent_by_symbol.eurusd"), "{error}");
        assert!(error.contains("EURUSD is set twice"), "{error}");
    }

    #[test]
    fn blackouts_hold_for_the_symbols_that_are_meant() {
        let names = |cell: &str| {
            let text = format!("from,to,symbols\n2026-01-05,2026-01-06,{cell}\n");
            let config = load("[risk]\nblackouts = 'NEWS'", &text).unwrap().config;
            let span = config.risk.blackouts.spans[0].clone();
            span.symbols.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        for (cell, expected) in [
            ("", &[][..]),
            ("EURUSD", &["EURUSD"]),
            ("eur/usd EURUSD", &["EURUSD"]),
            ("USD", &["EURUSD"]),
            ("\"EUR, BTC\"", &["EURUSD", "BTCUSDT"]),
            // Never empty: that would be every symbol.
            ("JPY", &["JPY"]),
            ("EURUDS", &["EURUDS"]),
        ] {
            assert_eq!(names(cell), expected, "{cell}");
        }
    }
}
