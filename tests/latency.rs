//! Delays that a journal recorded, and a backtest that takes its latencies from them.

use crate::candlewick::Folder;
use crate::recording::{folder, lines, record_in_lock_step, write};
use candlewick_sdk::Millis;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The default of `[simulation].latency_ms`, with which the sessions are recorded.
const RECORDED: i64 = 2_000;

fn recorded() -> Folder {
    let folder = folder().with("no-latency.toml", "[simulation]\nlatency_ms = 0\n");
    assert_eq!(record_in_lock_step(&folder).code, 0);
    folder
}

fn backtest(folder: &Folder, arguments: &[&str]) -> Value {
    let common = ["backtest", "--json", "--quiet", "--config", "bots.toml", "--config", "no-latency.toml"];
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "GBPUSD_1m.csv"];
    folder.run(&[&common[..], &data, arguments].concat()).json()
}

#[test]
fn the_latency_of_a_session_makes_the_trades_of_that_session() {
    let folder = recorded();
    backtest(&folder, &["--trades", "without.csv"]);
    backtest(&folder, &["--latency-from", "run.db", "--trades", "with.csv"]);
    assert_ne!(folder.read("without.csv"), folder.read("live.csv"));
    assert_eq!(folder.read("with.csv"), folder.read("live.csv"));
    let report = folder.run(&["report", "--journal", "run.db", "--json"]).json();
    let trades = report["trades"].as_u64().unwrap() + report["unsettled"].as_u64().unwrap();
    let mut counted = 0;
    for line in report["delays"].as_array().unwrap() {
        let arrival = &line["decide_to_arrival_ms"];
        for key in ["p50", "p90", "p99", "max"] {
            assert_eq!((&arrival[key], &line["close_to_available_ms"][key]), (&json!(RECORDED), &json!(0)));
        }
        counted += arrival["count"].as_u64().unwrap();
    }
    assert_eq!(counted, trades, "{report}");
}

#[test]
fn each_order_draws_one_of_its_symbols_latencies_the_same_in_every_process() {
    let folder = recorded();
    // Every order of BTCUSDT arrived later, by 0 to 3 minutes and a half second.
    let late = |intent: u64| (intent % 4) as i64 * 60_000 + 500;
    let changed = lines(&folder.path("run.db")).into_iter().map(|stored| {
        let mut line = stored.line;
        let mut body: Value = serde_json::from_str(&line.body).unwrap();
        if body["event"] == "opened" {
            let at = body["at"].as_i64().unwrap() + late(line.intent.unwrap());
            body["at"] = json!(at);
            body["received"] = json!(at);
            (line.at, line.received) = (Millis::new(at), Millis::new(at));
            line.body = body.to_string();
        }
        line
    });
    write(&folder.path("late.db"), changed);
    let run = |seed: &str| {
        let arguments = ["--latency-from", "late.db", "--latency-seed", seed, "--trades", "drawn.csv"];
        let report = backtest(&folder, &arguments);
        (report["journal_hash"].clone(), folder.read("drawn.csv"))
    };
    let (first, again, other) = (run("1"), run("1"), run("2"));
    assert_eq!(first, again);
    assert_ne!(first.1, other.1);
    let mut drawn = BTreeSet::new();
    for row in first.1.lines().skip(1).filter(|row| row.contains(",BTCUSDT,")) {
        let columns: Vec<&str> = row.split(',').collect();
        let time = |place: usize| columns[place].parse::<i64>().unwrap();
        let (decided, opened) = (time(6), time(7));
        let latency = (0..4).map(|minutes| RECORDED + minutes * 60_000 + 500).find(|latency| {
            // The end of the second in which it arrives.
            (decided + latency).div_euclid(1_000) * 1_000 + 999 == opened
        });
        drawn.insert(latency.unwrap_or_else(|| panic!("{row}")));
    }
    assert_eq!(drawn.len(), 4, "{drawn:?}");
}

#[test]
fn a_journal_without_an_answered_order_has_no_latency() {
    let folder = recorded();
    let header = lines(&folder.path("run.db")).into_iter().take(1).map(|stored| stored.line);
    write(&folder.path("empty.db"), header);
    let arguments = ["--config", "bots.toml", "--data", "BTCUSDT_1m.csv", "--data", "GBPUSD_1m.csv"];
    let run = folder.run(&[&["backtest", "--latency-from", "empty.db"], &arguments[..]].concat());
    run.fails(3, &["--latency-from", "no order of this journal was answered", "help"]);
    folder
        .run(&[&["backtest", "--latency-from", "nowhere.db"], &arguments[..]].concat())
        .fails(2, &["nowhere.db"]);
}
