//! What `trades`, `report`, `status`, `explain` and `why` read from a journal is what the run itself reported.

use crate::candlewick::Folder;
use crate::recording::{folder, lines, record_in_lock_step, write};
use candlewick_journal::Line;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const KEYS: [&str; 20] = [
    "intent_id",
    "venue_id",
    "bot",
    "symbol",
    "direction",
    "amount",
    "state",
    "result",
    "pnl",
    "decision_time",
    "request_time",
    "open_time",
    "open_price",
    "close_time",
    "close_price",
    "payout",
    "reason",
    "ordered_symbol",
    "ordered_direction",
    "ordered_amount",
];
/// Figures that a report of a journal shares with that of the run.
const FIGURES: [&str; 12] = [
    "candles",
    "trades",
    "won",
    "lost",
    "draw",
    "cancelled",
    "unsettled",
    "refused",
    "pnl",
    "final_balance",
    "max_drawdown",
    "longest_losing_streak",
];

/// The rows of a CSV file, by its header.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let read: Result<Vec<BTreeMap<String, String>>, _> = reader.deserialize().collect();
    read.unwrap()
}

/// A value of JSON as CSV has it.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().unwrap().to_string(),
        other => other.to_string(),
    }
}

fn number(text: &str) -> String {
    text.parse::<f64>().map_or_else(|_| text.to_owned(), |number| number.to_string())
}

#[test]
fn the_trades_of_a_journal_are_those_of_the_run() {
    let folder = folder();
    record_in_lock_step(&folder);
    let trades = folder.run(&["trades", "--journal", "run.db", "--json"]).json();
    let trades = trades.as_array().unwrap();
    let expected = rows(&folder.read("live.csv"));
    assert_eq!(trades.len(), expected.len());
    for (place, trade) in trades.iter().enumerate() {
        assert_eq!(trade["intent_id"].as_u64(), Some(place as u64 + 1));
        for key in KEYS {
            assert!(trade.get(key).is_some(), "{key} in {trade}");
        }
        assert_eq!(trade["request_time"], trade["decision_time"], "lock-step takes no time");
        assert!(trade["venue_id"].as_str().is_some_and(|id| id.len() == 26), "{trade}");
    }
    // The file is ordered by decision time, then bot.
    let mut trades: Vec<&Value> = trades.iter().collect();
    trades.sort_by_key(|trade| (trade["decision_time"].as_i64(), cell(&trade["bot"])));
    for (trade, expected) in trades.into_iter().zip(expected) {
        // What a verdict needs stands in the file alone.
        for (key, expected) in expected.iter().filter(|(key, _)| trade.get(key).is_some()) {
            let is_unsettled = trade["state"] == "open" && key.starts_with("close_") && expected.is_empty();
            assert!(is_unsettled || number(&cell(&trade[key])) == number(expected), "{key}: {trade}");
        }
    }
}

#[test]
fn trades_are_filtered_and_come_as_csv() {
    let folder = folder();
    record_in_lock_step(&folder);
    let run = |arguments: &[&str]| {
        let trades = folder.run(&[&["trades", "--journal", "run.db", "--json"], arguments].concat()).json();
        trades.as_array().unwrap().clone()
    };
    let all = run(&[]);
    let middle = all[all.len() / 2]["decision_time"].as_i64().unwrap();
    let moment = middle.to_string();
    let count = |is_it: &dyn Fn(&Value) -> bool| all.iter().filter(|trade| is_it(trade)).count();
    for (arguments, expected) in [
        (vec!["--bot", "btc"], count(&|trade| trade["bot"] == "btc")),
        (vec!["--symbol", "GBPUSD"], count(&|trade| trade["symbol"] == "GBPUSD")),
        (vec!["--state", "settled"], count(&|trade| trade["state"] == "settled")),
        (vec!["--state", "in_doubt"], 0),
        (vec!["--since", &moment], count(&|trade| trade["decision_time"].as_i64() >= Some(middle))),
        (vec!["--until", &moment], count(&|trade| trade["decision_time"].as_i64() < Some(middle))),
        (vec!["--since", &moment, "--until", &moment], 0),
    ] {
        assert_eq!(run(&arguments).len(), expected, "{arguments:?}");
    }
    let csv = folder.run(&["trades", "--journal", "run.db", "--csv"]);
    let csv = rows(&csv.stdout);
    assert_eq!(csv.len(), all.len());
    for (row, trade) in csv.iter().zip(&all) {
        for key in KEYS {
            assert_eq!(number(&row[key]), number(&cell(&trade[key])), "{key}");
        }
    }
    let wrong = folder.run(&["trades", "--journal", "run.db", "--state", "lost"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("not_opened"), "{}", wrong.stderr);
    csv_has_what_was_asked_for(&folder, &csv);
}

/// Where the venue took another trade: here the second.
fn csv_has_what_was_asked_for(folder: &Folder, plain: &[BTreeMap<String, String>]) {
    let taken = "\"taken\":{\"symbol\":\"ETHUSDT\",\"direction\":\"SELL\",\"stake\":5000},\"open_time\"";
    let edited = lines(&folder.path("run.db")).into_iter().map(|stored| {
        let is_it = stored.line.intent == Some(2) && stored.line.body.contains("\"event\":\"opened\"");
        let body = stored.line.body.replacen("\"open_time\"", if is_it { taken } else { "\"open_time\"" }, 1);
        Line { body, ..stored.line }
    });
    write(&folder.path("other.db"), edited);
    let csv = folder.run(&["trades", "--journal", "other.db", "--csv"]);
    assert_eq!(csv.code, 0, "{}", csv.stderr);
    let csv = rows(&csv.stdout);
    let keys = ["symbol", "direction", "amount"];
    assert_eq!(keys.map(|key| csv[1][key].as_str()), ["ETHUSDT", "SELL", "50.0"]);
    for key in keys {
        assert_eq!(csv[1][&format!("ordered_{key}")], plain[1][key]);
        assert_eq!(csv[0][&format!("ordered_{key}")], "");
    }
}

#[test]
fn the_figures_and_the_state_of_a_journal_are_those_of_the_run() {
    let folder = folder();
    let live = record_in_lock_step(&folder).json();
    for arguments in [&["--run", "1"][..], &[]] {
        let report = folder.run(&[&["report", "--journal", "run.db", "--json"], arguments].concat()).json();
        for key in FIGURES {
            assert_eq!(report[key], live[key], "{key}");
        }
        assert_eq!(report["bots"], live["bots"]);
    }
    folder.run(&["report", "--journal", "run.db", "--run", "2"]).fails(2, &["the journal has runs 1 to 1"]);
    let status = folder.run(&["status", "--journal", "run.db", "--json"]).json();
    let expected = [
        ("holder", Value::Null),
        ("bot", Value::Null),
        ("runs", json!(1)),
        ("equity", live["final_balance"].clone()),
        ("settled", live["trades"].clone()),
        ("in_flight", json!([])),
        ("in_doubt", json!([])),
        ("halted", json!(false)),
    ];
    for (key, expected) in expected {
        assert_eq!(status[key], expected, "{key}");
    }
    let last = lines(&folder.path("run.db")).pop().unwrap();
    assert_eq!(status["last_event"].as_i64(), Some(last.line.received.get()));
    assert_eq!(status["entries"].as_u64(), Some(last.seq));
}

#[test]
fn a_trade_is_explained_from_its_candle_to_its_settlement() {
    let folder = folder();
    record_in_lock_step(&folder);
    let trades = folder.run(&["trades", "--journal", "run.db", "--json"]).json();
    let trade = &trades[4];
    let id = trade["venue_id"].as_str().unwrap();
    let printed = folder.run(&["explain", "5", "--journal", "run.db", "--json"]).json();
    assert_eq!(printed, folder.run(&["explain", id, "--journal", "run.db", "--json"]).json());
    assert_eq!(&printed["trade"], trade);
    let timeline = printed["timeline"].as_array().unwrap();
    let steps: Vec<&str> = timeline.iter().map(|step| step["what"].as_str().unwrap()).collect();
    assert_eq!(steps[..3], ["decision", "request", "reply"]);
    assert!(steps.contains(&"opened") && steps.last() == Some(&"settled"), "{steps:?}");
    assert_eq!(timeline[0]["after_ms"], 0);
    let request = timeline[1]["detail"].as_str().unwrap();
    assert!(request.starts_with("POST /token/trades/open {"), "{request}");
    assert!(timeline[2]["detail"].as_str().unwrap().contains(id));
    let candles = printed["candles"].as_array().unwrap();
    assert!(candles.iter().any(|candle| candle["close_time"] == trade["decision_time"]));
    assert_eq!(printed["passed_rules"].as_array().unwrap().len(), 36);
    let text = folder.run(&["explain", "5", "--journal", "run.db"]).stdout;
    for part in ["Trade #5 of", "decided on it", "POST /token/trades/open", "rsi=", "settled"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert!(!text.contains('{') && text.lines().all(|line| line.chars().count() < 300), "{text}");
    // What was said byte for byte is there where it is asked for.
    let raw = folder.run(&["explain", "5", "--journal", "run.db", "--raw"]).stdout;
    assert!(timeline[1..3].iter().all(|step| raw.contains(step["detail"].as_str().unwrap())), "{raw}");
    folder
        .run(&["explain", "999999", "--journal", "run.db"])
        .fails(2, &["no intent and no trade \"999999\""]);
}

#[test]
fn a_moment_without_a_trade_is_explained_by_the_rule_or_the_silence_of_the_strategy() {
    let folder = folder();
    record_in_lock_step(&folder);
    let recorded = lines(&folder.path("run.db"));
    let refusal = recorded.iter().find(|stored| stored.line.body.contains("\"action\":\"refuse\"")).unwrap();
    let refused: Value = serde_json::from_str(&refusal.line.body).unwrap();
    let bot = ["btc", "gbp"][usize::try_from(refused["bot"].as_u64().unwrap()).unwrap()];
    let at = |time: i64| {
        let printed = folder.run(&["why", &time.to_string(), "--journal", "run.db", "--json"]).json();
        printed["bots"].as_array().unwrap().clone()
    };
    // Half a minute later nothing else has been decided.
    for time in [refusal.line.at.get(), refusal.line.at.get() + 30_000] {
        let bots = at(time);
        let printed = bots.iter().find(|printed| printed["bot"] == bot).unwrap();
        assert_eq!((&printed["answer"], &printed["rule"]), (&json!("refused"), &refused["rule"]));
        assert_eq!(printed["candle"]["close_time"].as_i64(), Some(refusal.line.at.get()));
    }
    let trades = folder.run(&["trades", "--journal", "run.db", "--json"]).json();
    let bots = at(trades[0]["decision_time"].as_i64().unwrap());
    let printed = bots.iter().find(|printed| printed["bot"] == trades[0]["bot"]).unwrap();
    assert_eq!((&printed["answer"], &printed["intent"]), (&json!("opened"), &json!(1)));
    let first = recorded[0].line.at.get();
    assert_eq!(at(first - 1), Vec::<Value>::new());
    assert!(at(first + 60_000).iter().all(|printed| printed["answer"] == "no_signal"));
    let text = folder.run(&["why", &first.to_string(), "GBPUSD", "--journal", "run.db"]).stdout;
    assert!(text.contains("no candle of its series is recorded") && !text.contains("btc"), "{text}");
    folder
        .run(&["why", &first.to_string(), "EURUSD", "--journal", "run.db"])
        .fails(2, &["no bot of run 1 trades EURUSD", "known are: BTCUSDT, GBPUSD"]);
    for (filter, name, parts) in [
        ("--bot", "bct", ["the journal has no bot bct", "did you mean \"btc\"?"]),
        ("--symbol", "GBPUS", ["the journal has no bot on the symbol GBPUS", "did you mean \"GBPUSD\"?"]),
    ] {
        folder.run(&["trades", "--journal", "run.db", filter, name]).fails(2, &parts);
    }
}
