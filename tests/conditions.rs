//! `why` and `explain` say which conditions of a rule held: held to the mean of two closes worked out here.

use crate::candlewick::Folder;
use crate::excerpt::{HOUR, MINUTE, MONDAY, shipped};
use serde_json::Value;
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
[[bots]]
name = "coin"
symbol = "BTCUSDT"
interval = "1m"
strategy = "coin"
params = { share = 0.0 }
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

/// The conditions of the only bot with any, in the JSON of `why` at a time, and its text.
fn why(folder: &Folder, at: i64) -> (Value, String) {
    let at = at.to_string();
    let arguments = ["why", &at, "--journal", "run.db"];
    let report = folder.run(&[&arguments[..], &["--json"]].concat()).json();
    assert_eq!(report["bots"][1]["conditions"], Value::Array(Vec::new()), "a strategy in Rust says none");
    (report["bots"][0].clone(), folder.run(&arguments).stdout)
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
    let (mut missed, mut signals) = (0, 0);
    for minute in 60..80 {
        let at = MONDAY + minute * MINUTE;
        let ((open, close), (_, before)) = (candles[&at], candles[&(at - MINUTE)]);
        let mean = f64::midpoint(close, before);
        let (is_above, rose, fell) = (close > mean, close > open * 1.0005, close < mean);
        let (bot, text) = why(&folder, at);
        let holds: Vec<&Value> =
            bot["conditions"].as_array().unwrap().iter().map(|one| &one["holds"]).collect();
        assert_eq!(
            holds,
            [&Value::from(is_above && rose), &is_above.into(), &rose.into(), &fell.into()],
            "{bot}"
        );
        let numbers = &bot["conditions"][1]["numbers"];
        assert_eq!(numbers["close"], close);
        assert!((numbers["sma(2)"].as_f64().unwrap() / mean - 1.0).abs() < 1e-12, "{numbers} {mean}");
        assert!(
            text.contains(&format!(
                "\n  buy: {}\n    close > sma(2): {is_above} (close = ",
                is_above && rose
            )),
            "{text}"
        );
        assert!(text.contains(&format!("\n  sell: close < sma(2): {fell} (close = ")), "{text}");
        assert_eq!(bot["answer"] == "no_signal", !(fell || is_above && rose), "{bot}");
        (missed, signals) =
            if bot["answer"] == "no_signal" { (missed + 1, signals) } else { (missed, signals + 1) };
    }
    assert!(missed >= 5 && signals >= 5, "{missed} without a signal, {signals} with one");
    // Of a trade the same.
    let trades = folder.run(&["trades", "--journal", "run.db", "--json"]).json();
    let trade = &trades.as_array().unwrap()[3];
    let intent = trade["intent_id"].to_string();
    let explained = folder.run(&["explain", &intent, "--journal", "run.db", "--json"]).json();
    let (bot, _) = why(&folder, trade["decision_time"].as_i64().unwrap());
    assert_eq!(explained["conditions"], bot["conditions"]);
    let place = if trade["direction"] == "BUY" { 0 } else { 3 };
    assert_eq!(explained["conditions"][place]["holds"], Value::from(true), "{explained}");
    let text = folder.run(&["explain", &intent, "--journal", "run.db"]).stdout;
    assert!(text.contains("\nConditions:\n  buy: ") && text.contains("\n    close > sma(2): "), "{text}");
}
