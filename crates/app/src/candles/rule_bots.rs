//! Bots that trade a rule file given on the command line.

use super::DataName;
use candlewick_sdk::{CloseType, Interval, Millis, Series, Symbol};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Builds one bot per symbol of the data, on its longest candles.
///
/// Shorter candles price its trades. Without data, the bot uses the first built-in series. Invalid
/// names are reported on reading.
pub fn rule_bots(file: &Path, data: &[String]) -> Value {
    let mut longest: BTreeMap<Symbol, Interval> = BTreeMap::new();
    for Series { symbol, interval } in
        data.iter().filter_map(|name| Some(name.parse::<DataName>().ok()?.series()))
    {
        let known = longest.entry(symbol).or_insert(interval);
        *known = interval.max(*known);
    }
    let is_one = longest.len() <= 1;
    let bot = |symbol: &str, interval: Interval| {
        // Longer candles than a day have no code of their own.
        let close_type = CloseType::new(interval.length().min(Millis::DAY));
        let name = if is_one { "rules".to_owned() } else { format!("rules-{}", symbol.to_lowercase()) };
        json!({
            "name": name,
            "symbol": symbol,
            "interval": interval,
            "strategy": "rules",
            "close_type": close_type.map_or_else(|_| "01:00".to_owned(), |code| code.to_string()),
            "params": { "file": file },
        })
    };
    if longest.is_empty() {
        return json!([bot("BTCUSDT", Interval::MINUTE)]);
    }
    longest.iter().map(|(symbol, interval)| bot(symbol.as_str(), *interval)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_symbol_has_a_bot_on_its_longest_candles() {
        let check = |data: &[&str], expected: Value| {
            let data: Vec<String> = data.iter().map(|name| (*name).to_owned()).collect();
            let bots = rule_bots(Path::new("my.toml"), &data);
            let told = |bot: &Value| {
                json!([bot["name"], bot["symbol"], bot["interval"], bot["close_type"], bot["params"]["file"]])
            };
            assert_eq!(bots.as_array().unwrap().iter().map(told).collect::<Value>(), expected);
        };
        check(&[], json!([["rules", "BTCUSDT", "1m", "01:00", "my.toml"]]));
        check(&["EURUSD_5s.csv", "EURUSD@5m=x.csv"], json!([["rules", "EURUSD", "5m", "05:00", "my.toml"]]));
        check(
            &["EURUSD_1h.csv", "BTCUSDT@1m", "no series"],
            json!([
                ["rules-btcusdt", "BTCUSDT", "1m", "01:00", "my.toml"],
                ["rules-eurusd", "EURUSD", "1h", "1:00:00", "my.toml"]
            ]),
        );
    }
}
