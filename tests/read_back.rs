//! What `trades`, `report`, `status` and `explain` read from a journal is what the run itself reported.

use crate::candlewick::Folder;
use crate::recording::{folder, lines, record_in_lock_step};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const FIGURES: &str = "candles trades won lost draw cancelled unsettled refused pnl final_balance max_drawdown \
                       longest_losing_streak bots";

fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

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
fn what_is_read_from_a_journal_is_what_its_run_reported() {
    let folder = folder();
    let live = record_in_lock_step(&folder).json();
    check_trades(&folder);
    check_filters(&folder);
    check_figures_and_state(&folder, &live);
    check_explained(&folder);
}

fn check_trades(folder: &Folder) {
    let mut trades = folder.trades("run.db");
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
        for (key, expected) in expected.iter().filter(|(key, _)| trade.get(key).is_some()) {
            let is_unsettled = trade["state"] == "open" && key.starts_with("close_") && expected.is_empty();
            assert!(is_unsettled || cell(&trade[key]) == number(expected), "{key}: {trade}");
        }
    }
}

fn check_filters(folder: &Folder) {
    let all = folder.trades("run.db");
    let middle = all[all.len() / 2]["decision_time"].as_i64().unwrap();
    let moment = middle.to_string();
    let count = |is_it: &dyn Fn(&Value) -> bool| all.iter().filter(|trade| is_it(trade)).count();
    for (filter, expected) in [
        ("--bot btc", count(&|trade| trade["bot"] == "btc")),
        ("--symbol GBPUSD", count(&|trade| trade["symbol"] == "GBPUSD")),
        ("--state settled", count(&|trade| trade["state"] == "settled")),
        ("--state in_doubt", 0),
        ("--since MIDDLE", count(&|trade| trade["decision_time"].as_i64() >= Some(middle))),
        ("--until MIDDLE", count(&|trade| trade["decision_time"].as_i64() < Some(middle))),
        ("--since MIDDLE --until MIDDLE", 0),
    ] {
        let filtered = folder.asked(&format!("trades {}", filter.replace("MIDDLE", &moment)), "run.db");
        assert_eq!(filtered.as_array().unwrap().len(), expected, "{filter}");
    }
    for (command, unknown, known) in [
        (["trades", "--state", "lost"], "lost", "not_opened"),
        (["trades", "--bot", "bct"], "bct", "\"btc\""),
        (["trades", "--symbol", "GBPUS"], "GBPUS", "\"GBPUSD\""),
        (["why", &moment, "EURUSD"], "EURUSD", "BTCUSDT, GBPUSD"),
        (["report", "--run", "2"], "journal", "runs 1 to 1"),
    ] {
        folder.run(&[&command[..], &["--journal", "run.db"]].concat()).fails(2, &[unknown, known]);
    }
}

fn check_figures_and_state(folder: &Folder, live: &Value) {
    for command in ["report --run 1", "report"] {
        let report = folder.asked(command, "run.db");
        for key in FIGURES.split(' ') {
            assert_eq!(report[key], live[key], "{key}");
        }
    }
    let last = lines(&folder.path("run.db")).pop().unwrap();
    let status = folder.asked("status", "run.db");
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

fn check_explained(folder: &Folder) {
    let trade = folder.trades("run.db")[4].clone();
    let id = trade["venue_id"].as_str().unwrap();
    let explained = folder.asked("explain 5", "run.db");
    assert_eq!(explained, folder.asked(&format!("explain {id}"), "run.db"));
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
