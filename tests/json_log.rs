//! The JSON log: each line of stderr is an object, and each decision of a run has one.

use crate::candlewick::{BOT, Folder, candles};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A bot with accepted trades and one with rejected stakes, with lost replies.
fn settings() -> String {
    let second = BOT.replace("\"btc\"", "\"small\"").replace("BTCUSDT", "EURUSD")
        + "stake = { kind = \"fixed\", amount = 5 }\n";
    let first = BOT.to_owned() + "stake = { kind = \"fixed\", amount = 20 }\n";
    format!(
        "[log]\nformat = \"json\"\n[sandbox]\nmin_amount = 10\nfaults = \"drop-after:0.1\"\n[risk]\nmax_open_trades = 0\n\
         max_open_trades_per_symbol = 1\nmax_drawdown_percent = 0\ndaily_loss_limit = 0\nallow_opposite = true\n{first}{second}"
    )
    .replace("period = 2", "period = 2, oversold = 45.0, overbought = 55.0")
}

fn objects(text: &str) -> Vec<Value> {
    let objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(objects.iter().all(Value::is_object), "{text}");
    objects
}

fn intents(rows: &[Value], key: &str, is_meant: impl Fn(&Value) -> bool) -> BTreeSet<u64> {
    rows.iter().filter(|row| is_meant(row)).map(|row| row[key].as_u64().unwrap()).collect()
}

const LIVE: [&str; 7] = ["live", "--sandbox", "--config", "bot.toml", "--speed", "max", "--until-end"];

#[test]
fn logs_each_decision_with_its_bot_rule_and_outcome() {
    let folder = Folder::new().with("bot.toml", &settings()).with("BTCUSDT_1m.csv", &candles(240));
    let folder = folder.with("EURUSD_1m.csv", &candles(240));
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "EURUSD_1m.csv", "--journal", "run.db", "--json"];
    let run = folder.run(&[&LIVE[..], &data].concat());
    let report = run.json();
    let lines = objects(&run.stderr);
    for line in &lines {
        let named = ["timestamp", "level", "target", "message"].iter().all(|name| line[name].is_string());
        assert!(named && line["event"] != "candle", "{line}");
    }
    let rows = folder.run(&["journal", "export", "exported", "--format", "ndjson", "--journal", "run.db"]);
    assert_eq!(rows.code, 0, "{}", rows.stderr);
    let rows = objects(&folder.read("exported/intents.ndjson"));
    let logged = |event: &str| intents(&lines, "intent", |line| line["event"] == event);
    let recorded = |states: &[&str]| {
        intents(&rows, "intent_id", |row| states.contains(&row["state"].as_str().unwrap_or_default()))
    };
    assert_eq!(logged("signal"), intents(&rows, "intent_id", |_| true));
    assert_eq!(logged("settled"), recorded(&["settled"]));
    assert_eq!(logged("opened"), recorded(&["settled", "open"]));
    assert_eq!(logged("rejected"), recorded(&["rejected"]));
    let doubts = logged("in_doubt");
    assert!(!doubts.is_empty() && doubts == logged("resolved"), "{doubts:?}");
    assert!(logged("rejected").len() > 3 && logged("settled").len() > 10);
    let mut refused = BTreeMap::<String, u64>::new();
    for line in lines.iter().filter(|line| line["event"] == "refused") {
        *refused.entry(line["rule"].as_str().unwrap().to_owned()).or_default() += 1;
        let is_of_a_bot = line["bot"] == "btc" || line["bot"] == "small";
        assert!(is_of_a_bot && line["level"] == "INFO", "{line}");
    }
    assert!(!refused.is_empty());
    // The report also counts rejections by the venue.
    refused.insert("Rejected".to_owned(), logged("rejected").len() as u64);
    assert_eq!(serde_json::to_value(&refused).unwrap(), report["refused"]);
    let ended = lines.iter().find(|line| line["event"] == "ended").unwrap();
    assert_eq!(ended["trades"], report["trades"]);
    assert!(!run.stderr.contains("sandbox-token") && !run.stderr.contains("sandbox-key"));
}

#[test]
fn error_before_a_run_is_one_line_of_json() {
    let folder = Folder::new().with("bot.toml", "[log]\nformat = \"xml\"\n");
    folder.run(&LIVE).fails(2, &["log.format", "xml"]);
    let folder = folder.with("bot.toml", "[risk]\nmax_open = 1\n");
    let refused = folder.with_variable("CANDLEWICK_LOG__FORMAT", "json").run(&LIVE);
    let [line] = &objects(&refused.stderr)[..] else { panic!("{}", refused.stderr) };
    assert_eq!((refused.code, &line["level"]), (2, &Value::from("ERROR")));
    let message = line["message"].as_str().unwrap();
    assert!(message.contains("risk.max_open") && message.contains("bot.toml"), "{message}");
}
