//! A run as a stream of events: on stdout, and for another process that follows.

use crate::candlewick::{BOT, Folder, Run, candles};
use serde_json::Value;
use std::io::Read;
use std::process::{Child, Stdio};
use std::time::Duration;

/// How often something is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

fn of<'a>(events: &'a [Value], name: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["event"] == name)
}

/// An object with what it must hold of another.
fn check_holds(event: &Value, expected: &Value, keys: &[(&str, &str)]) {
    for (key, expected_key) in keys {
        assert_eq!(event[key], expected[expected_key], "{key} of {event} and {expected}");
    }
}

fn trades(folder: &Folder) -> Vec<Value> {
    folder.run(&["trades", "--journal", "run.db", "--json"]).json().as_array().unwrap().clone()
}

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    let common = ["live", "--sandbox", "--json", "--journal", "run.db"];
    let mut command = folder.command(&[&common[..], arguments].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn the_stream_of_a_run_says_what_its_journal_says_and_another_process_reads_the_same() {
    let folder = Folder::new();
    let bot = start(&folder, &["--for", "20s"]);
    let ended = std::thread::spawn(move || Run::of(&bot.wait_with_output().unwrap()));
    while !folder.path("run.db.sock").exists() {
        assert!(!ended.is_finished(), "it ended by itself");
        std::thread::sleep(LOOK_EVERY);
    }
    let followed = folder.run(&["watch", "--journal", "run.db"]).events();
    let (ran, trades) = (ended.join().unwrap(), trades(&folder));
    let (events, last) = (ran.events(), ran.json());
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "nothing is left out");
    assert_eq!((&events[0]["event"], &last["event"]), (&"started".into(), &"ended".into()));
    let settled: Vec<&Value> = trades.iter().filter(|trade| trade["state"] == "settled").collect();
    assert!(!settled.is_empty(), "{trades:?}");
    assert_eq!(of(&events, "signal").count(), trades.len());
    for trade in &trades {
        let of_trade = |name| of(&events, name).find(|event| event["intent"] == trade["intent_id"]);
        let terms = [("bot", "bot"), ("symbol", "symbol"), ("direction", "direction"), ("stake", "amount")];
        check_holds(of_trade("signal").unwrap(), trade, &terms);
        if trade["state"] == "open" || trade["state"] == "settled" {
            let opened = of_trade("opened").unwrap();
            check_holds(opened, trade, &[("venue_id", "venue_id"), ("open_price", "open_price")]);
        }
        let ends = [
            ("pnl", "pnl"),
            ("close_price", "close_price"),
            ("close_time", "close_time"),
            ("outcome", "result"),
        ];
        assert_eq!(of_trade("settled").is_some(), trade["state"] == "settled");
        if let Some(event) = of_trade("settled") {
            check_holds(event, trade, &ends);
        }
    }
    assert_eq!(
        of(&events, "opened").count(),
        trades.iter().filter(|trade| !trade["open_time"].is_null()).count()
    );
    let refused: u64 = last["refused"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(of(&events, "refused").count() as u64, refused);
    assert_eq!(last["trades"], settled.len());
    // What follows is told the same lines, from the moment on at which it came.
    assert!(followed.len() > 2, "{followed:?}");
    let (end, followed) = followed.split_last().unwrap();
    assert_eq!((&end["event"], &end["seq"], &end["won"]), (&last["event"], &last["seq"], &last["won"]));
    for event in followed {
        assert_eq!(Some(event), events.iter().find(|other| other["seq"] == event["seq"]));
    }
}

#[test]
fn a_reader_that_does_not_read_is_told_what_it_missed_and_the_run_does_not_wait() {
    let folder = Folder::new().with("bot.toml", BOT).with("BTCUSDT_1m.csv", &candles(6_000));
    let data = ["--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];
    let mut bot = start(&folder, &[&["--speed", "max", "--until-end"], &data[..]].concat());
    let is_over = || {
        let status = folder.run(&["status", "--journal", "run.db", "--json"]);
        status.code == 0 && {
            let status = status.json();
            status["runs"].as_u64() > Some(0) && status["holder"].is_null()
        }
    };
    // Nothing is read before the journal is let go of.
    while !is_over() {
        assert!(bot.try_wait().unwrap().is_none(), "it waits for its last line to be read");
        std::thread::sleep(LOOK_EVERY);
    }
    let mut printed = String::new();
    bot.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert!(bot.wait().unwrap().success());
    let events: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["trades"]), (&"ended".into(), &trades(&folder).len().into()));
    let numbered = events.iter().filter(|event| !event["seq"].is_null()).count() as u64;
    let missed: u64 = of(&events, "dropped")
        .filter(|event| event["seq"].is_null())
        .filter_map(|event| event["count"].as_u64())
        .sum();
    assert!(missed > 0, "{numbered} lines fit");
    assert_eq!(Some(numbered + missed), last["seq"].as_u64());
}
