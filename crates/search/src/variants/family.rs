//! What an idea is, and what a variant of it.

use candlewick_engine::{BotSettings, SessionSettings};
use candlewick_sdk::Registry;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An idea: a strategy on some symbols at an interval.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Family {
    /// The strategy's name.
    pub strategy: String,
    /// The symbols that its bots trade, in alphabetical order.
    pub symbols: Vec<String>,
    /// The interval of its candles.
    pub interval: String,
}

/// A variant of an idea.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The idea.
    pub family: Family,
    /// Its name: a hash of all that makes it one.
    pub name: String,
}

impl Variant {
    /// The variants that a run of these bots tries: one for each strategy and interval among them, in their order.
    /// Parameters that are left out count as their defaults, so that writing one down makes no variant.
    pub fn of_bots(settings: &SessionSettings, registry: &Registry) -> Vec<Self> {
        let mut groups: BTreeMap<(String, String), Vec<&BotSettings>> = BTreeMap::new();
        for bot in &settings.bots {
            groups.entry((bot.strategy.clone(), bot.interval.to_string())).or_default().push(bot);
        }
        let tried = groups.into_iter().map(|((strategy, interval), bots)| {
            let mut symbols: Vec<String> = bots.iter().map(|bot| bot.symbol.to_string()).collect();
            symbols.sort_unstable();
            symbols.dedup();
            let version = registry.find(&strategy).map(|entry| entry.version.as_str());
            let mut parts: Vec<String> = bots.iter().map(|bot| part_of(bot, registry).to_string()).collect();
            parts.sort_unstable();
            let whole = json!([version, parts, settings.risk]).to_string();
            let name = short_hash(&whole);
            Self { family: Family { strategy, symbols, interval }, name }
        });
        tried.collect()
    }
}

impl Family {
    /// A short name of the family, the same on every machine.
    pub fn key(&self) -> String {
        short_hash(&json!(self).to_string())
    }
}

/// What of a bot makes a variant.
fn part_of(bot: &BotSettings, registry: &Registry) -> Value {
    let mut params: BTreeMap<String, Value> = BTreeMap::new();
    for parameter in registry.find(&bot.strategy).map(|entry| &entry.parameters[..]).unwrap_or_default() {
        params.insert(parameter.name.clone(), plain(&parameter.default));
    }
    for (name, value) in bot.params.as_object().into_iter().flatten() {
        params.insert(name.clone(), plain(value));
    }
    let expiry = bot.expiry();
    let counted_from = match expiry.expiration_type {
        candlewick_sdk::ExpirationType::Unstated => candlewick_sdk::ExpirationType::TimeFixed,
        stated => stated,
    };
    json!([bot.symbol, expiry.close_type, counted_from, params])
}

/// 30 and 30.0 are the same value.
fn plain(value: &Value) -> Value {
    value.as_f64().map_or_else(|| value.clone(), |number| json!(number))
}

fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::{RiskSettings, StakeSettings};
    use candlewick_sdk::rust_decimal::Decimal;
    use candlewick_sdk::{ExpirationType, MoneyScale};

    fn bot(strategy: &str, symbol: &str, params: Value) -> BotSettings {
        BotSettings {
            name: format!("{strategy}-{symbol}"),
            symbol: symbol.parse().unwrap(),
            venue: std::collections::BTreeMap::new(),
            interval: "1m".parse().unwrap(),
            strategy: strategy.to_owned(),
            close_type: "01:00".parse().unwrap(),
            expiration_type: ExpirationType::TimeFixed,
            params,
            stake: StakeSettings::default(),
        }
    }

    fn tried(bots: Vec<BotSettings>) -> Vec<Variant> {
        let (money_scale, risk) = (MoneyScale::default(), RiskSettings::default());
        let settings = SessionSettings { money_scale, balance: Decimal::TEN, risk, bots };
        Variant::of_bots(&settings, &Registry::default())
    }

    #[test]
    fn a_strategy_on_its_symbols_is_one_family() {
        let found = tried(vec![
            bot("rsi", "ETHUSDT", json!({})),
            bot("cross", "BTCUSDT", json!({})),
            bot("rsi", "BTCUSDT", json!({})),
        ]);
        let families: Vec<(&str, Vec<String>)> =
            found.iter().map(|one| (one.family.strategy.as_str(), one.family.symbols.clone())).collect();
        let names = |symbols: &[&str]| symbols.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(families, [("cross", names(&["BTCUSDT"])), ("rsi", names(&["BTCUSDT", "ETHUSDT"]))]);
        assert_ne!(found[0].family.key(), found[1].family.key());
    }

    fn check(change: impl Fn(&mut BotSettings), is_another: bool) {
        let first = bot("rsi", "BTCUSDT", json!({ "period": 14 }));
        let mut second = first.clone();
        change(&mut second);
        assert_eq!(
            tried(vec![first])[0].name != tried(vec![second.clone()])[0].name,
            is_another,
            "{second:?}"
        );
    }

    #[test]
    fn parameters_and_expiry_make_a_variant() {
        check(|bot| bot.params = json!({ "period": 15 }), true);
        check(|bot| bot.close_type = "05:00".parse().unwrap(), true);
        check(|bot| bot.expiration_type = ExpirationType::CandleClose, true);
    }

    #[test]
    fn what_does_not_change_the_bet_makes_none() {
        check(|bot| bot.params = json!({ "period": 14.0 }), false);
        check(|bot| bot.expiration_type = ExpirationType::Unstated, false);
        check(|bot| bot.name = "another".to_owned(), false);
        check(|bot| bot.stake = StakeSettings::Share { percent: 3.0 }, false);
    }
}
