//! The event stream of a run: on stdout, and for a process that follows it.

use crate::candlewick::{BOT, Folder, Run, candles};
use serde_json::Value;
use std::io::Read;
use std::process::{Child, Stdio};
use std::time::Duration;

const POLL_INTERVAL: Duration = Duration::from_millis(50);

fn named<'a>(events: &'a [Value], name: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["event"] == name)
}

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    let common = ["live", "--sandbox", "--json", "--journal", "run.db"];
    let mut command = folder.command(&[&common[..], arguments].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Compares an event with its trade in the journal. `=` introduces a key with another name there.
#[track_caller]
fn check_keys(event: Option<&Value>, trade: &Value, keys: &str) {
    for key in keys.split(' ') {
        let (of_event, of_trade) = key.split_once('=').unwrap_or((key, key));
        assert_eq!(event.unwrap()[of_event], trade[of_trade], "{key} of {trade}");
    }
}

#[test]
fn event_stream_matches_the_journal_in_each_process() {
    let folder = Folder::new();
    let bot = start(&folder, &["--for", "20s"]);
    let ended = std::thread::spawn(move || Run::from_output(&bot.wait_with_output().unwrap()));
    while !folder.path("run.db.sock").exists() {
        assert!(!ended.is_finished(), "the run ended early");
        std::thread::sleep(POLL_INTERVAL);
    }
    let followed = folder.run(&["watch", "--journal", "run.db"]).events();
    let (ran, trades) = (ended.join().unwrap(), folder.trades("run.db"));
    let (events, last) = (ran.events(), ran.json());
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "events are missing");
    assert_eq!((&events[0]["event"], &last["event"]), (&"started".into(), &"ended".into()));
    for trade in &trades {
        let of_trade = |name| named(&events, name).find(|event| event["intent"] == trade["intent_id"]);
        check_keys(of_trade("signal"), trade, "bot symbol direction stake=amount");
        if trade["state"] == "open" || trade["state"] == "settled" {
            check_keys(of_trade("opened"), trade, "venue_id open_price");
        }
        assert_eq!(of_trade("settled").is_some(), trade["state"] == "settled");
        if trade["state"] == "settled" {
            check_keys(of_trade("settled"), trade, "pnl close_price close_time outcome=result");
        }
    }
    let settled = trades.iter().filter(|trade| trade["state"] == "settled").count();
    assert!(settled > 0 && last["trades"] == settled, "{trades:?}");
    assert_eq!(named(&events, "signal").count(), trades.len());
    let opened = trades.iter().filter(|trade| !trade["open_time"].is_null()).count();
    assert_eq!(named(&events, "opened").count(), opened);
    let refused: u64 = last["refused"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(named(&events, "refused").count() as u64, refused);
    assert!(followed.len() > 2, "{followed:?}");
    let (end, followed) = followed.split_last().unwrap();
    assert_eq!((&end["event"], &end["seq"], &end["won"]), (&last["event"], &last["seq"], &last["won"]));
    for event in followed {
        assert_eq!(Some(event), events.iter().find(|other| other["seq"] == event["seq"]));
    }
}

#[test]
fn slow_reader_never_blocks_the_run_and_gets_the_number_of_missed_events() {
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
    // Reading starts when the journal is released.
    while !is_over() {
        assert!(bot.try_wait().unwrap().is_none(), "the run must wait until its last event is read");
        std::thread::sleep(POLL_INTERVAL);
    }
    let mut printed = String::new();
    bot.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert!(bot.wait().unwrap().success());
    let events: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["trades"]), (&"ended".into(), &folder.trades("run.db").len().into()));
    let numbered = events.iter().filter(|event| !event["seq"].is_null()).count() as u64;
    let dropped = named(&events, "dropped").filter(|event| event["seq"].is_null());
    let missed: u64 = dropped.filter_map(|event| event["count"].as_u64()).sum();
    assert!(missed > 0, "{numbered} events fit");
    assert_eq!(Some(numbered + missed), last["seq"].as_u64());
}
