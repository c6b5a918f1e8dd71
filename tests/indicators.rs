//! Indicators: `explain` shows those of a decision, TA-Lib agrees, and the book describes all of them.

use crate::candlewick::{Folder, repository};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const REFERENCE: &str = include_str!("../crates/sdk/src/indicator/reference/crypto.csv");

/// A bot that trades at every candle after its warm-up, the last six of them.
const BOT: &str = r#"
[risk]
max_open_trades = 0
max_open_trades_per_symbol = 0
allow_opposite = true
allow_duplicate = true
[[bots]]
name = "btc"
symbol = "BTCUSDT"
interval = "1m"
strategy = "rsi-reversal"
params = { period = 14, oversold = 49.9999, overbought = 50.0001 }
close_type = "01:00"
"#;

fn folder(bot: &str) -> Folder {
    let columns = REFERENCE.lines().map(|line| line.split(',').take(6).collect::<Vec<_>>().join(","));
    let candles = columns.collect::<Vec<_>>().join("\n") + "\n";
    Folder::new().with("bot.toml", bot).with("BTCUSDT_1m.csv", &candles)
}

fn recorded(folder: Folder) -> Folder {
    let arguments = ["live", "--sandbox", "--speed", "max", "--until-end", "--quiet"];
    let more = ["--config", "bot.toml", "--journal", "run.db", "--data", "BTCUSDT_1m.csv"];
    let run = folder.run(&[&arguments[..], &more].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    folder
}

fn reference() -> BTreeMap<i64, f64> {
    let mut reader = csv::Reader::from_reader(REFERENCE.as_bytes());
    let rows = reader.deserialize().map(|row: Result<BTreeMap<String, String>, _>| row.unwrap());
    let figure = |row: BTreeMap<String, String>| {
        let close_time = row["time"].parse::<i64>().unwrap() + 60_000;
        Some((close_time, row["rsi"].parse().ok()?))
    };
    rows.filter_map(figure).collect()
}

#[test]
fn the_index_at_each_decision_is_that_of_the_reference() {
    let (folder, reference) = (recorded(folder(BOT)), reference());
    let trades = folder.trades("run.db");
    assert!(trades.len() >= 5, "{trades:?}");
    for trade in trades {
        let expected = reference[&trade["decision_time"].as_i64().unwrap()];
        let printed = folder.asked(&format!("explain {}", trade["intent_id"]), "run.db");
        let indicators = printed["indicators"].as_object().unwrap();
        assert_eq!(indicators.keys().collect::<Vec<_>>(), ["rsi"]);
        let rsi = indicators["rsi"].as_f64().unwrap();
        assert!((rsi / expected - 1.0).abs() < 1e-9, "{rsi}, but TA-Lib says {expected}");
        assert_eq!(printed["indicators_missing"], Value::Null);
    }
}

#[test]
fn a_trade_is_explained_without_indicators_and_without_the_file_of_its_strategy() {
    let decided = reference().keys().nth(100).copied().unwrap();
    let bot = BOT.replace("rsi-reversal", "signal-list");
    let bot = bot.replace("period = 14, oversold = 49.9999, overbought = 50.0001", "file = \"signals.csv\"");
    let signals = format!("time,symbol,direction\n{decided},BTCUSDT,BUY\n");
    let folder = recorded(folder(&bot).with("signals.csv", &signals));
    let printed = folder.asked("explain 1", "run.db");
    assert_eq!((&printed["indicators"], &printed["indicators_missing"]), (&json!({}), &Value::Null));
    std::fs::remove_file(folder.path("signals.csv")).unwrap();
    let printed = folder.asked("explain 1", "run.db");
    assert!(printed["indicators_missing"].as_str().unwrap().contains("signals.csv"), "{printed}");
    assert_eq!(printed["trade"]["intent_id"], 1);
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

/// Returns the cells of a row that begins within its first one; names stand in brackets or quotes.
fn cells(row: &str) -> Vec<&str> {
    let cells = row.trim_matches('|').split('|').map(str::trim);
    cells.map(|cell| cell.trim_matches(['`', '[', ']'])).collect()
}

#[test]
fn the_book_lists_every_indicator_as_its_source_does() {
    let folder = repository().join("crates/sdk/src/indicator");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let source: String = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let module = std::fs::read_to_string(folder.join("mod.rs")).unwrap();
    let page = std::fs::read_to_string(repository().join("docs/indicators.md")).unwrap();
    let mut listed = page.lines().filter(|line| line.starts_with("| `")).map(cells);
    let indicators: Vec<Vec<&str>> =
        module.lines().filter_map(|line| line.strip_prefix("//! | [")).map(cells).collect();
    assert_eq!(indicators.len(), 20);
    for row in &indicators {
        let [name, _, usual, first, stable] = row[..] else { panic!("{row:?}") };
        let usual = if usual.is_empty() { "-" } else { usual };
        let listed = listed.next().unwrap();
        assert_eq!([&listed[..1], &listed[2..]].concat(), [name, usual, first, stable]);
    }
    for row in &indicators {
        let name = row[0];
        let methods = source.split_once(&format!("\nimpl {name} {{")).unwrap().1;
        let update = between(methods, "pub fn update(&mut self, ", "> {");
        let (taken, answered) = update.split_once(") -> Option<").unwrap();
        let takes = if taken.ends_with("&Candle") { "a candle" } else { "a number" };
        let answers = match answered {
            "f64" => "a number".to_owned(),
            "Candle" => "a candle".to_owned(),
            lines => {
                let fields = between(&source, &format!("\npub struct {lines} {{"), "\n}");
                let fields = fields.lines().filter_map(|line| line.strip_prefix("    pub ")?.split_once(':'));
                fields.map(|(field, _)| field).collect::<Vec<_>>().join(", ")
            }
        };
        let listed = listed.next().unwrap().join(" | ").replace('`', "");
        assert_eq!(listed, format!("{name} | {takes} | {answers}"));
    }
    assert_eq!(listed.next(), None);
}
