//! `explain` shows the indicators that a strategy went by, and TA-Lib agrees.

use crate::candlewick::{Folder, repository};
use crate::recording::{lines, write};
use candlewick_journal::Line;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One-minute candles, and what TA-Lib says of them: its RSI of 14 among others.
const REFERENCE: &str = include_str!("../crates/sdk/src/indicator/reference/crypto.csv");

/// It trades at every candle once it is warm, which it is for the last six.
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

/// The reference candles and a bot.
fn folder(bot: &str) -> Folder {
    let columns = REFERENCE.lines().map(|line| line.split(',').take(6).collect::<Vec<_>>().join(","));
    let candles = columns.collect::<Vec<_>>().join("\n") + "\n";
    Folder::new().with("bot.toml", bot).with("BTCUSDT_1m.csv", &candles)
}

/// With a session over them in `run.db`.
fn recorded(folder: Folder) -> Folder {
    let arguments = ["live", "--sandbox", "--speed", "max", "--until-end", "--quiet"];
    let more = ["--config", "bot.toml", "--journal", "run.db", "--data", "BTCUSDT_1m.csv"];
    let run = folder.run(&[&arguments[..], &more].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    folder
}

/// The RSI of TA-Lib by the close time of its candle.
fn reference() -> BTreeMap<i64, f64> {
    let mut reader = csv::Reader::from_reader(REFERENCE.as_bytes());
    let rows = reader.deserialize().map(|row: Result<BTreeMap<String, String>, _>| row.unwrap());
    let figure = |row: BTreeMap<String, String>| {
        let close_time = row["time"].parse::<i64>().unwrap() + 60_000;
        Some((close_time, row["rsi"].parse().ok()?))
    };
    rows.filter_map(figure).collect()
}

fn explain(folder: &Folder, intent: &str, journal: &str) -> (Value, String) {
    let arguments = ["explain", intent, "--journal", journal];
    (folder.run(&[&arguments[..], &["--json"]].concat()).json(), folder.run(&arguments).stdout)
}

#[test]
fn the_index_at_each_decision_is_that_of_the_reference() {
    let (folder, reference) = (recorded(folder(BOT)), reference());
    let trades = folder.run(&["trades", "--journal", "run.db", "--json"]).json();
    let trades = trades.as_array().unwrap();
    assert!(trades.len() >= 5, "{trades:?}");
    for trade in trades {
        let expected = reference[&trade["decision_time"].as_i64().unwrap()];
        let (printed, text) = explain(&folder, &trade["intent_id"].to_string(), "run.db");
        let indicators = printed["indicators"].as_object().unwrap();
        assert_eq!(indicators.keys().collect::<Vec<_>>(), ["rsi"]);
        let rsi = indicators["rsi"].as_f64().unwrap();
        assert!((rsi / expected - 1.0).abs() < 1e-9, "{rsi}, but TA-Lib says {expected}");
        assert_eq!(printed["indicators_missing"], Value::Null);
        let line = text.lines().find_map(|line| line.strip_prefix("Indicators: rsi = ")).unwrap();
        // What a person reads is rounded: the JSON has all digits.
        assert!(line.len() < 12 && (line.parse::<f64>().unwrap() / rsi - 1.0).abs() < 1e-6, "{line}, {rsi}");
    }
}

#[test]
fn a_strategy_that_this_program_has_not_is_named_and_the_trade_explained() {
    let folder = recorded(folder(BOT));
    let recorded = lines(&folder.path("run.db"));
    let (known, unknown) = ("\"rsi-reversal\",\"1.0.0\"", "\"rsi-reversal\",\"0.9.0\"");
    assert!(recorded[0].line.body.contains(known), "{}", recorded[0].line.body);
    let changed = |line: &Line| Line { body: line.body.replacen(known, unknown, 1), ..line.clone() };
    write(&folder.path("old.db"), recorded.iter().map(|stored| changed(&stored.line)));
    let (printed, text) = explain(&folder, "1", "old.db");
    let why = "the run had version 0.9.0 of strategy \"rsi-reversal\", this program has version 1.0.0";
    assert_eq!((&printed["indicators"], &printed["indicators_missing"]), (&json!({}), &json!(why)));
    assert!(text.contains(&format!("\nIndicators: not available: {why}\n")), "{text}");
    assert_eq!(printed["trade"]["intent_id"], 1);
}

#[test]
fn a_strategy_that_offers_none_has_none_and_its_lost_file_hides_no_trade() {
    let decided = reference().keys().nth(100).copied().unwrap();
    let bot = BOT.replace("rsi-reversal", "signal-list");
    let bot = bot.replace("period = 14, oversold = 49.9999, overbought = 50.0001", "file = \"signals.csv\"");
    let signals = format!("time,symbol,direction\n{decided},BTCUSDT,BUY\n");
    let folder = recorded(folder(&bot).with("signals.csv", &signals));
    let (printed, text) = explain(&folder, "1", "run.db");
    assert_eq!((&printed["indicators"], &printed["indicators_missing"]), (&json!({}), &Value::Null));
    assert!(!text.contains("Indicators"), "{text}");
    std::fs::remove_file(folder.path("signals.csv")).unwrap();
    let (printed, text) = explain(&folder, "1", "run.db");
    let why = printed["indicators_missing"].as_str().unwrap();
    assert!(why.contains("signals.csv") && !why.contains('\n'), "{why}");
    assert!(text.contains(why) && text.contains("decided on it"), "{text}");
}

/// The first paragraph of the documentation of a type, whichever of these files has it.
fn documented(name: &str, sources: &[String]) -> String {
    let begins = format!("pub struct {name}");
    let is_it = |line: &&str| {
        line.strip_prefix(&*begins).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let found = sources.iter().find_map(|source| {
        let lines: Vec<&str> = source.lines().collect();
        let place = lines.iter().position(&is_it)?;
        Some(lines[..place].to_vec())
    });
    let above = found.unwrap_or_else(|| panic!("no type {name}"));
    let docs = above
        .iter()
        .rev()
        .skip_while(|line| line.starts_with("#["))
        .take_while(|line| line.starts_with("///"));
    let docs: Vec<&str> = docs.map(|line| line.trim_start_matches('/').trim()).collect();
    let paragraph = docs.into_iter().rev().take_while(|line| !line.is_empty());
    paragraph.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_book_lists_every_indicator_with_what_its_own_documentation_says() {
    let folder = repository().join("crates/sdk/src/indicator");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let sources: Vec<String> = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let table = std::fs::read_to_string(folder.join("mod.rs")).unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("//! | [`")?.split_once("`]"));
    let expected: Vec<String> = rows
        .map(|(name, rest)| {
            let cells: Vec<&str> = rest.split('|').map(str::trim).collect();
            let [_, _, usual, first, stable, _] = cells.as_slice() else { panic!("{name}: {rest}") };
            let usual = if usual.is_empty() { "-" } else { usual };
            format!("| `{name}` | {} | {usual} | {first} | {stable} |", documented(name, &sources))
        })
        .collect();
    assert_eq!(expected.len(), 20);
    let page = std::fs::read_to_string(repository().join("docs/indicators.md")).unwrap();
    let (first, second) = page.split_once("| Indicator | Takes |").unwrap();
    let listed = |part: &str| {
        part.lines().filter(|line| line.starts_with("| `")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(listed(first), expected);
    let names = expected.iter().map(|row| row.split('`').nth(1).unwrap());
    assert_eq!(listed(second), names.map(|name| taken_and_answered(name, &sources)).collect::<Vec<_>>());
}

/// What the `update` of an indicator takes and answers, as its source has it.
fn taken_and_answered(name: &str, sources: &[String]) -> String {
    let methods = format!("\nimpl {name} {{");
    let body = sources.iter().find_map(|source| source.split_once(&methods)).unwrap().1;
    let (taken, rest) =
        body.split_once("pub fn update(&mut self, ").unwrap().1.split_once(") -> Option<").unwrap();
    let answered = rest.split_once('>').unwrap().0;
    let takes = if taken.ends_with("&Candle") { "a candle" } else { "a number" };
    let answers = match answered {
        "f64" => "a number".to_owned(),
        "Candle" => "a candle".to_owned(),
        lines => {
            let lines = format!("pub struct {lines} {{");
            let fields = sources.iter().find_map(|source| source.split_once(&lines)).unwrap().1;
            let fields =
                fields.split_once("\n}").unwrap().0.lines().filter_map(|line| line.strip_prefix("    pub "));
            fields
                .map(|field| format!("`{}`", field.split_once(':').unwrap().0))
                .collect::<Vec<_>>()
                .join(", ")
        }
    };
    format!("| `{name}` | {takes} | {answers} |")
}
