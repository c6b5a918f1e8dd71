//! Signals from the shell to a running bot: same rules, counted, and replayed from the journal.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::control::{Live, venue_of_short_trades};
use crate::recording;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

fn signal(folder: &Folder, arguments: &[&str]) -> Value {
    let common = ["--json", "--config", "bot.toml"];
    folder.run(&[&["signal", "btc"], arguments, &common].concat()).json()["outcome"].clone()
}

pub(crate) fn count(folder: &Folder, text: &str) -> u64 {
    let lines = recording::lines(&folder.path("candlewick.db"));
    lines.iter().filter(|stored| stored.line.body.contains(text)).count() as u64
}

#[track_caller]
pub(crate) fn check_parity(folder: &Folder, journal: &str) {
    let parity = folder.run(&["parity", "--journal", journal, "--json"]).json();
    assert_eq!((&parity["ok"], &parity["unexplained"]), (&json!(true), &json!(0)), "{parity}");
    assert_eq!(parity["decisions"]["difference"], Value::Null, "{parity}");
}

#[test]
fn refuses_wrong_arguments_of_a_signal() {
    let folder = Folder::new().with("list.txt", "M5;BTCUSDT;10:00;CALL\n");
    let long = "x".repeat(64);
    for (arguments, part) in [
        (&["--buy", "--sell"][..], "--sell"),
        (&["--buy", "--id", &long], "--id"),
        (&["--check", "list.txt"], "--check"),
    ] {
        folder.run(&[&["signal", "btc"], arguments].concat()).fails(2, &[part]);
    }
}

#[test]
fn check_of_a_list_finds_entries_that_limits_refuse_and_settings_without_effect() {
    let bot = "[signals]\nlist = \"list.txt\"\n[[bots]]\nname = \"eur\"\nsymbol = \"EURUSD\"\ninterval = \"1m\"\nstrategy = \"combine\"\n\
               close_type = \"05:00\"\nparams = { first_of = [{ strategy = \"rsi-reversal\" }], invert = true }\n";
    let list = "EURUSD 10:00 CALL\nEURUSD 10:05 CALL\nEURUSD 10:10 CALL\n";
    let folder = Folder::new().with("list.txt", list).with("bot.toml", bot);
    let checked = folder.run(&["signal", "--config", "bot.toml", "--check", "list.txt", "--json"]).json();
    assert_eq!((&checked["would_trade"], &checked["entries"]), (&json!(2), &json!(3)), "{checked}");
    assert!(checked["lines"][1]["entry"]["note"].is_string() && checked["refused"].is_string(), "{checked}");
    assert_eq!(checked["unbound"].as_array().map(Vec::len), Some(1), "{checked}");
    let notices = folder.run(&["config", "check", "bot.toml", "--json"]).json()["notices"].to_string();
    assert!(notices.contains("signals.list: ") && notices.contains("(invert)"), "{notices}");
}

#[test]
fn each_signal_command_opens_at_most_one_trade_and_parity_replays_it() {
    let (_served, folder) = venue_of_short_trades();
    let bot = Live::start(&folder);
    let first = signal(&folder, &["--buy", "--id", "one", "--reason", "news"]);
    assert_eq!(first["signal"], "approved", "{first}");
    for _ in 0..5 {
        assert_eq!(signal(&folder, &["--buy", "--id", "one"]), json!({"signal": "duplicate"}));
    }
    let opposite = signal(&folder, &["--sell", "--id", "two"]);
    assert_eq!(opposite["signal"], "refused", "{opposite}");
    folder.run(&["signal", "eth", "--buy", "--config", "bot.toml"]).fails(2, &["\"eth\"", "btc"]);
    let status = folder.run(&["status", "--json", "--config", "bot.toml"]).json();
    let tally = &status["bot"]["signals"];
    assert_eq!((&tally["approved"], &tally["duplicates"]), (&json!(1), &json!(5)), "{status}");
    assert_eq!(tally["malformed"], json!({"command": 1}));
    bot.end();
    assert_eq!(count(&folder, "\"event\":\"outside_signal\""), 2);
    assert_eq!(count(&folder, "command: news"), 1, "it opens one trade");
    let why = |more: &[&str]| folder.run(&[&["why", "--config", "bot.toml", "--json"], more].concat());
    let decisions = why(&[]).json()["decisions"].as_array().unwrap().clone();
    let refused = decisions.iter().find(|decision| decision["rule"] == opposite["rule"]).unwrap();
    let moment = why(&[&refused["time"].to_string()]).json();
    let signals = moment["bots"][0]["signals"].as_array().unwrap();
    let two = signals.iter().find(|signal| signal["id"] == "two").unwrap();
    assert_eq!((&two["source"], &two["rule"]), (&json!("command"), &opposite["rule"]), "{moment}");
    why(&["--bot", "unknown-bot"]).fails(2, &["unknown-bot", "btc"]);
    check_parity(&folder, "candlewick.db");
    let bot = Live::start(&folder);
    assert_eq!(signal(&folder, &["--buy", "--id", "one"]), json!({"signal": "duplicate"}));
    bot.end();
}

/// Duplicates leave no entry and are not counted after a kill.
#[test]
fn journal_counts_the_signals_of_a_killed_run() {
    let (_served, folder) = venue_of_short_trades();
    let bot = Live::start(&folder);
    for arguments in [["--buy", "--id", "one"], ["--buy", "--id", "one"], ["--sell", "--id", "two"]] {
        signal(&folder, &arguments);
    }
    let signal = |at: i64| {
        format!(r#"{{"order":"signal","bot":"btc","direction":"BUY","source":"drill","id":"3","time":{at}}}"#)
    };
    assert_eq!(give(&folder, &signal(1_000))["answer"], "refused", "the year 1970");
    assert_eq!(give(&folder, &signal(venue_time(&folder) - 80_000_000))["rule"], "LateSignal");
    let status = || folder.run(&["status", "--json", "--config", "bot.toml"]).json();
    let running = status()["signals"].clone();
    // A refusal is answered before it is written.
    let is_unwritten = |_: &u32| count(&folder, "\"drill\"") == 0;
    (0..3_000).take_while(is_unwritten).for_each(|_| std::thread::sleep(Duration::from_millis(20)));
    drop(bot);
    let killed = status();
    assert!(killed["bot"].is_null() && killed["holder"]["alive"] == json!(false), "{killed}");
    let counted = &killed["signals"];
    assert_eq!((&counted["approved"], &running["duplicates"]), (&json!(1), &json!(1)), "{killed}");
    assert_eq!(counted["refused"], running["refused"], "{killed}");
    assert_eq!(counted["by_source"]["command"]["refused"], json!(1), "{killed}");
    assert_eq!(counted["by_source"]["drill"]["late"], json!(1), "{killed}");
}

fn give(folder: &Folder, line: &str) -> Value {
    let mut stream = UnixStream::connect(folder.path("candlewick.db.sock")).unwrap();
    stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    serde_json::from_str(&answer).unwrap()
}

pub(crate) fn venue_time(folder: &Folder) -> i64 {
    let answer = give(folder, "{\"order\":\"status\"}");
    answer["state"]["at"].as_i64().unwrap_or_else(|| panic!("{answer}"))
}
