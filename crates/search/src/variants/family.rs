//! Strategy families, and the variants of each family.

use candlewick_engine::{BotSettings, SessionSettings};
use candlewick_sdk::Registry;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

const WALK_PREFIX: &str = "walk-";

/// All variants of one strategy, on any symbol and interval.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Family {
    pub strategy: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    pub family: Family,
    /// Hash of everything that defines the variant, except the candles.
    pub name: String,
    /// 0-based indices of the bots that use the variant; empty if it covers the whole run.
    pub bots: Vec<usize>,
}

impl Variant {
    /// Returns the variants of a run, one per strategy, in bot order. Omitted parameters count as their
    /// defaults. Files named in parameters are represented by their hash in `files` ([`hash_named_files`]).
    pub fn from_bots(
        settings: &SessionSettings,
        registry: &Registry,
        files: &BTreeMap<String, String>,
    ) -> Vec<Self> {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, bot) in settings.bots.iter().enumerate() {
            groups.entry(bot.strategy.clone()).or_default().push(index);
        }
        let tried = groups.into_iter().map(|(strategy, bots)| {
            let version = registry.find(&strategy).map(|entry| entry.version.as_str());
            let part = |index: &usize| describe_bot(&settings.bots[*index], registry, files).to_string();
            let mut parts: Vec<String> = bots.iter().map(part).collect();
            parts.sort_unstable();
            let whole = json!([version, parts, settings.risk, settings.balance, settings.money_scale]);
            let name = short_hash(&whole.to_string());
            Self { family: Family { strategy }, name, bots }
        });
        tried.collect()
    }

    pub(super) fn is_walk_forward(name: &str) -> bool {
        name.starts_with(WALK_PREFIX)
    }

    pub fn from_walk_forward(strategy: &str, identity: &Value) -> Self {
        let name = format!("{WALK_PREFIX}{}", short_hash(&identity.to_string()));
        Self { family: Family { strategy: strategy.to_owned() }, name, bots: Vec::new() }
    }
}

impl Family {
    /// Returns a short hash of the family, identical on every machine.
    pub fn key(&self) -> String {
        short_hash(&json!(self).to_string())
    }
}

pub fn hash_named_files<'a>(
    values: impl IntoIterator<Item = &'a Value>,
) -> Result<BTreeMap<String, String>, (String, io::Error)> {
    let mut texts = Vec::new();
    values.into_iter().for_each(|value| collect_strings(value, &mut texts));
    let mut files = BTreeMap::new();
    for text in texts {
        if !files.contains_key(text) && Path::new(text).is_file() {
            let hash = hash_file(Path::new(text)).map_err(|error| (text.to_owned(), error))?;
            files.insert(text.to_owned(), hash);
        }
    }
    Ok(files)
}

fn collect_strings<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect_strings(value, texts)),
        Value::Object(values) => values.values().for_each(|value| collect_strings(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn hash_file(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

fn describe_bot(bot: &BotSettings, registry: &Registry, files: &BTreeMap<String, String>) -> Value {
    let mut params: BTreeMap<String, Value> = BTreeMap::new();
    let entry = registry.find(&bot.strategy).and_then(|entry| entry.for_params(&bot.params).ok());
    for parameter in entry.iter().flat_map(|entry| &entry.parameters) {
        params.insert(parameter.name.clone(), normalize(&parameter.default, files));
    }
    for (name, value) in bot.params.as_object().into_iter().flatten() {
        params.insert(name.clone(), normalize(value, files));
    }
    let expiry = bot.expiry();
    let counted_from = match expiry.expiration_type {
        candlewick_sdk::ExpirationType::Unstated => candlewick_sdk::ExpirationType::TimeFixed,
        stated => stated,
    };
    json!([bot.symbol, bot.interval, expiry.close_type, counted_from, params, bot.stake])
}

/// Normalizes a parameter value: 30 and 30.0 become equal, and a file becomes the hash of its content.
fn normalize(value: &Value, files: &BTreeMap<String, String>) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or_else(|| value.clone(), |number| json!(number)),
        Value::String(text) => files.get(text).map_or_else(|| value.clone(), |hash| json!(["file", hash])),
        Value::Array(values) => values.iter().map(|value| normalize(value, files)).collect(),
        Value::Object(values) => {
            values.iter().map(|(name, value)| (name.clone(), normalize(value, files))).collect()
        }
        Value::Null | Value::Bool(_) => value.clone(),
    }
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

    fn bot(strategy: &str, symbol: &str, params: &Value) -> BotSettings {
        let bot = json!({
            "name": format!("{strategy}-{symbol}"), "symbol": symbol, "interval": "1m", "strategy": strategy,
            "close_type": "01:00", "expiration_type": "TIME_FIXED", "params": params
        });
        serde_json::from_value(bot).unwrap()
    }

    fn tried(bots: Vec<BotSettings>) -> Vec<Variant> {
        let (money_scale, risk) = (MoneyScale::default(), RiskSettings::default());
        let files = hash_named_files(bots.iter().map(|bot| &bot.params)).unwrap();
        let settings =
            SessionSettings { money_scale, balance: Decimal::TEN, risk, bots, longer_share_percent: None };
        Variant::from_bots(&settings, &Registry::default(), &files)
    }

    #[test]
    fn a_strategy_is_one_family_whatever_it_runs_on() {
        let none = json!({});
        let bots = [("rsi", "ETHUSDT"), ("cross", "BTCUSDT"), ("rsi", "BTCUSDT")];
        let found = tried(bots.map(|(strategy, symbol)| bot(strategy, symbol, &none)).into());
        let families: Vec<(&str, &[usize])> =
            found.iter().map(|one| (one.family.strategy.as_str(), &one.bots[..])).collect();
        assert_eq!(families, [("cross", &[1][..]), ("rsi", &[0, 2])]);
        assert_ne!(found[0].family.key(), found[1].family.key());
        assert_eq!(found[1].family, tried(vec![bot("rsi", "EURUSD", &none)])[0].family);
    }

    #[test]
    fn whatever_can_change_a_trade_makes_a_variant_and_another_way_to_write_the_same_none() {
        let check = |change: &dyn Fn(&mut BotSettings), is_another: bool| {
            let first = bot("rsi", "BTCUSDT", &json!({ "period": 14 }));
            let mut second = first.clone();
            change(&mut second);
            let is_other = tried(vec![first])[0].name != tried(vec![second.clone()])[0].name;
            assert_eq!(is_other, is_another, "{second:?}");
        };
        check(&|bot| bot.params = json!({ "period": 15 }), true);
        check(&|bot| bot.close_type = "05:00".parse().unwrap(), true);
        check(&|bot| bot.expiration_type = ExpirationType::CandleClose, true);
        check(&|bot| bot.stake = StakeSettings::Share { percent: 3.0 }, true);
        check(&|bot| bot.params = json!({ "period": 14.0 }), false);
        check(&|bot| bot.expiration_type = ExpirationType::Unstated, false);
        check(&|bot| bot.name = "another".to_owned(), false);
    }

    #[test]
    fn a_file_counts_by_its_content_and_not_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let name = |file: &str, content: &str| {
            let path = folder.path().join(file);
            std::fs::write(&path, content).unwrap();
            tried(vec![bot("list", "BTCUSDT", &json!({ "lists": [{ "file": path }] }))])[0].name.clone()
        };
        let first = name("a.csv", "one");
        assert_eq!(name("b.csv", "one"), first);
        let rewritten: std::collections::BTreeSet<String> =
            (0..15).map(|rewrite| name("a.csv", &format!("rewrite {rewrite}"))).collect();
        assert_eq!(rewritten.len(), 15);
        assert!(!rewritten.contains(&first));
    }
}
