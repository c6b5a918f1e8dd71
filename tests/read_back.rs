//! What `trades`, `report`, `status`, `explain` and `why` read from a journal is what the run itself reported.

use crate::candlewick::Folder;
use crate::recording::{folder, lines, record_in_lock_step, write};
use candlewick_journal::Line;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Figures in both the report of a journal and that of its run.
const FIGURES: [&str; 13] = [
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
    "bots",
];

fn read(folder: &Folder, command: &[&str]) -> Value {
    folder.run(&[command, &["--journal", "run.db", "--json"]].concat()).json()
}

fn trades(folder: &Folder, filter: &[&str]) -> Vec<Value> {
    read(folder, &[&["trades"], filter].concat()).as_array().unwrap().clone()
}

/// The rows of a CSV file, by column.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

/// A JSON value as a CSV cell.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => number(&other.to_string()),
    }
}

fn number(text: &str) -> String {
    text.parse::<f64>().map_or_else(|_| text.to_owned(), |number| number.to_string())
}

#[test]
fn trades_of_a_journal_are_those_of_the_run() {
    let folder = folder();
    record_in_lock_step(&folder);
    let mut trades = trades(&folder, &[]);
    let csv = rows(&folder.run(&["trades", "--journal", "run.db", "--csv"]).stdout);
    assert_eq!(csv.len(), trades.len());
    for (index, (trade, row)) in trades.iter().zip(&csv).enumerate() {
        assert_eq!(trade["intent_id"].as_u64(), Some(index as u64 + 1));
        assert_eq!(trade["request_time"], trade["decision_time"], "lock-step takes no time");
        assert!(trade["venue_id"].as_str().is_some_and(|id| id.len() == 26), "{trade}");
        for (key, found) in row {
            assert_eq!(number(found), cell(&trade[key]), "{key}: {trade}");
        }
    }
    let expected = rows(&folder.read("live.csv"));
    assert_eq!(trades.len(), expected.len());
    // The file is ordered by decision time, then bot.
    trades.sort_by_key(|trade| (trade["decision_time"].as_i64(), cell(&trade["bot"])));
    for (trade, expected) in trades.iter().zip(expected) {
        // The file has more columns, for verdicts.
        for (key, expected) in expected.iter().filter(|(key, _)| trade.get(key).is_some()) {
            let is_unsettled = trade["state"] == "open" && key.starts_with("close_") && expected.is_empty();
            assert!(is_unsettled || cell(&trade[key]) == number(expected), "{key}: {trade}");
        }
    }
}

#[test]
fn filters_trades_by_bot_symbol_state_and_time() {
    let folder = folder();
    record_in_lock_step(&folder);
    let all = trades(&folder, &[]);
    let middle = all[all.len() / 2]["decision_time"].as_i64().unwrap();
    let moment = middle.to_string();
    let count = |is_it: &dyn Fn(&Value) -> bool| all.iter().filter(|trade| is_it(trade)).count();
    for (filter, expected) in [
        (vec!["--bot", "btc"], count(&|trade| trade["bot"] == "btc")),
        (vec!["--symbol", "GBPUSD"], count(&|trade| trade["symbol"] == "GBPUSD")),
        (vec!["--state", "settled"], count(&|trade| trade["state"] == "settled")),
        (vec!["--state", "in_doubt"], 0),
        (vec!["--since", &moment], count(&|trade| trade["decision_time"].as_i64() >= Some(middle))),
        (vec!["--until", &moment], count(&|trade| trade["decision_time"].as_i64() < Some(middle))),
        (vec!["--since", &moment, "--until", &moment], 0),
    ] {
        assert_eq!(trades(&folder, &filter).len(), expected, "{filter:?}");
    }
    for (filter, value, suggested) in
        [("--state", "lost", "not_opened"), ("--bot", "bct", "\"btc\""), ("--symbol", "GBPUS", "\"GBPUSD\"")]
    {
        folder.run(&["trades", "--journal", "run.db", filter, value]).fails(2, &[value, suggested]);
    }
}

#[test]
fn trade_other_than_ordered_is_written_to_csv_with_its_order() {
    let folder = folder();
    record_in_lock_step(&folder);
    let ordered = trades(&folder, &[]);
    let taken = "\"taken\":{\"symbol\":\"ETHUSDT\",\"direction\":\"SELL\",\"stake\":5000},\"open_time\"";
    let edited = lines(&folder.path("run.db")).into_iter().map(|stored| {
        let is_it = stored.line.intent == Some(2) && stored.line.body.contains("\"event\":\"opened\"");
        let body = stored.line.body.replacen("\"open_time\"", if is_it { taken } else { "\"open_time\"" }, 1);
        Line { body, ..stored.line }
    });
    write(&folder.path("other.db"), edited);
    let csv = rows(&folder.run(&["trades", "--journal", "other.db", "--csv"]).stdout);
    for (key, expected) in [("symbol", "ETHUSDT"), ("direction", "SELL"), ("amount", "50.0")] {
        assert_eq!(csv[1][key], expected);
        assert_eq!(number(&csv[1][&format!("ordered_{key}")]), cell(&ordered[1][key]));
        assert_eq!(csv[0][&format!("ordered_{key}")], "");
    }
}

#[test]
fn figures_and_state_of_a_journal_are_those_of_the_run() {
    let folder = folder();
    let live = record_in_lock_step(&folder).json();
    for command in [&["report", "--run", "1"][..], &["report"]] {
        let report = read(&folder, command);
        for key in FIGURES {
            assert_eq!(report[key], live[key], "{key}");
        }
    }
    folder.run(&["report", "--journal", "run.db", "--run", "2"]).fails(2, &["runs 1 to 1"]);
    let last = lines(&folder.path("run.db")).pop().unwrap();
    let status = read(&folder, &["status"]);
    for (key, expected) in [
        ("holder", Value::Null),
        ("bot", Value::Null),
        ("runs", json!(1)),
        ("equity", live["final_balance"].clone()),
        ("settled", live["trades"].clone()),
        ("in_flight", json!([])),
        ("in_doubt", json!([])),
        ("halted", json!(false)),
        ("last_event", json!(last.line.received.get())),
        ("entries", json!(last.seq)),
    ] {
        assert_eq!(status[key], expected, "{key}");
    }
}

#[test]
fn explains_trade_by_number_and_by_venue_id_with_its_exchanges() {
    let folder = folder();
    record_in_lock_step(&folder);
    let trade = trades(&folder, &[])[4].clone();
    let id = trade["venue_id"].as_str().unwrap();
    let explained = read(&folder, &["explain", "5"]);
    assert_eq!(explained, read(&folder, &["explain", id]));
    assert_eq!(explained["trade"], trade);
    let candles = explained["candles"].as_array().unwrap();
    assert!(candles.iter().any(|candle| candle["close_time"] == trade["decision_time"]));
    let [request, reply] = [1_usize, 2].map(|step| explained["timeline"][step]["detail"].as_str().unwrap());
    assert!(request.starts_with("POST /token/trades/open {") && reply.contains(id), "{request} {reply}");
    let text = folder.run(&["explain", "5", "--journal", "run.db"]).stdout;
    assert!(text.contains("POST /token/trades/open") && !text.contains('{'), "{text}");
    let raw = folder.run(&["explain", "5", "--raw", "--journal", "run.db"]).stdout;
    assert!(raw.contains(request) && raw.contains(reply), "{raw}");
}

#[test]
fn why_names_the_rule_of_a_refusal_until_the_next_decision() {
    let folder = folder();
    record_in_lock_step(&folder);
    let recorded = lines(&folder.path("run.db"));
    let refusal = recorded.iter().find(|stored| stored.line.body.contains("\"action\":\"refuse\"")).unwrap();
    let refused: Value = serde_json::from_str(&refusal.line.body).unwrap();
    let bot = ["btc", "gbp"][usize::try_from(refused["bot"].as_u64().unwrap()).unwrap()];
    let decided = refusal.line.at.get();
    for time in [decided, decided + 30_000] {
        let why = read(&folder, &["why", &time.to_string()]);
        let why = why["bots"].as_array().unwrap().iter().find(|why| why["bot"] == bot).unwrap();
        assert_eq!((&why["answer"], &why["rule"]), (&json!("refused"), &refused["rule"]));
        assert_eq!(why["candle"]["close_time"], json!(decided));
    }
    let unknown = folder.run(&["why", &decided.to_string(), "EURUSD", "--journal", "run.db"]);
    unknown.fails(2, &["EURUSD", "BTCUSDT, GBPUSD"]);
}
