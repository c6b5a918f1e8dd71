//! `why` and `explain` say which conditions of a rule held: held to the mean of two closes worked out here.

use crate::candlewick::Folder;
use crate::excerpt::{HOUR, MINUTE, MONDAY, shipped};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A rise of a twentieth of a percent above the mean of two closes, or a close below that.
const BOT: &str = r#"
[risk]
max_open_trades = 0
max_open_trades_per_symbol = 0
[[bots]]
name = "btc"
symbol = "BTCUSDT"
interval = "1m"
strategy = "rules"
params = { buy = "close > sma(2) and close > open * 1.0005", sell = "close < sma(2)" }
close_type = "01:00"
"#;

/// Open and close of each candle, by its close time.
fn candles(text: &str) -> BTreeMap<i64, (f64, f64)> {
    let row = |line: &str| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        (cells[0] as i64 + MINUTE, (cells[1], cells[4]))
    };
    text.lines().skip(1).map(row).collect()
}

/// What `why` says of the bot at a time.
fn why(folder: &Folder, at: i64) -> Value {
    let report = folder.run(&["why", &at.to_string(), "--journal", "run.db", "--json"]).json();
    report["bots"][0].clone()
}

#[test]
fn why_says_at_each_candle_which_condition_was_missing() {
    let text = shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 2 * HOUR);
    let folder = Folder::new().with("bot.toml", BOT).with("BTCUSDT_1m.csv", &text);
    let live = ["live", "--sandbox", "--speed", "max", "--until-end", "--quiet"];
    let more = ["--config", "bot.toml", "--journal", "run.db", "--data", "BTCUSDT_1m.csv"];
    let run = folder.run(&[&live[..], &more].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let candles = candles(&text);
    let mut counts = [0, 0];
    for at in (60..80).map(|minute| MONDAY + minute * MINUTE) {
        let ((open, close), (_, before)) = (candles[&at], candles[&(at - MINUTE)]);
        let mean = f64::midpoint(close, before);
        let (is_above, rose, fell) = (close > mean, close > open * 1.0005, close < mean);
        let bot = why(&folder, at);
        let conditions = bot["conditions"].as_array().unwrap();
        let holds: Vec<&Value> = conditions.iter().map(|one| &one["holds"]).collect();
        assert_eq!(json!(holds), json!([is_above && rose, is_above, rose, fell]), "{bot}");
        let numbers = &conditions[1]["numbers"];
        assert_eq!(numbers["close"], close);
        assert!((numbers["sma(2)"].as_f64().unwrap() / mean - 1.0).abs() < 1e-12, "{numbers} {mean}");
        let signalled = fell || is_above && rose;
        assert_eq!(bot["answer"] != "no_signal", signalled, "{bot}");
        counts[usize::from(signalled)] += 1;
    }
    assert!(counts.iter().all(|count| *count >= 5), "without a signal and with one: {counts:?}");
    // Of a trade the same.
    let trade = folder.run(&["trades", "--journal", "run.db", "--json"]).json()[3].clone();
    let explain = ["explain", &trade["intent_id"].to_string(), "--journal", "run.db", "--json"];
    let explained = folder.run(&explain).json();
    let bot = why(&folder, trade["decision_time"].as_i64().unwrap());
    assert_eq!(explained["conditions"], bot["conditions"]);
    let place = if trade["direction"] == "BUY" { 0 } else { 3 };
    assert_eq!(explained["conditions"][place]["holds"], true, "{explained}");
}
