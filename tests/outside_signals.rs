//! Signals from the shell for a running bot: trades by the same rules, counted, and replayed from the journal.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::control::{Live, venue_and_folder};
use crate::recording;
use serde_json::{Value, json};

fn signal(folder: &Folder, arguments: &[&str]) -> Value {
    let common = ["--json", "--config", "bot.toml"];
    folder.run(&[&["signal", "btc"], arguments, &common].concat()).json()["outcome"].clone()
}

/// The journal's entries of this text.
fn count(folder: &Folder, text: &str) -> usize {
    let lines = recording::lines(&folder.path("candlewick.db"));
    lines.iter().filter(|stored| stored.line.body.contains(text)).count()
}

#[test]
fn a_signal_for_no_bot_is_an_error_with_a_way_out() {
    let folder = Folder::new();
    folder.run(&["signal", "btc", "--buy"]).fails(2, &["no signal was given", "--journal"]);
    folder.run(&["signal", "btc"]).fails(2, &["--buy"]);
    folder.run(&["signal", "btc", "--buy", "--sell"]).fails(2, &["--sell"]);
    folder.run(&["signal", "btc", "--buy", "--expires", "5"]).fails(2, &["such as 5s or 500ms"]);
    let long = "x".repeat(64);
    folder.run(&["signal", "btc", "--buy", "--id", &long]).fails(2, &["--id is too long"]);
}

#[test]
fn signals_by_command_become_trades_at_most_one_each_and_parity_replays_them() {
    let (_served, folder) = venue_and_folder();
    let bot = Live::start(&folder);
    let first = signal(&folder, &["--buy", "--id", "one", "--reason", "news"]);
    assert_eq!(first["signal"], "approved", "{first}");
    for _ in 0..5 {
        assert_eq!(signal(&folder, &["--buy", "--id", "one"]), json!({"signal": "duplicate"}));
    }
    let opposite = signal(&folder, &["--sell", "--id", "two"]);
    assert_eq!(opposite["signal"], "refused", "{opposite}");
    let unknown = folder.run(&["signal", "eth", "--buy", "--config", "bot.toml"]);
    unknown.fails(2, &["the bot took no signal: there is no bot \"eth\": the run has btc"]);
    let status = folder.run(&["status", "--json", "--config", "bot.toml"]).json();
    let tally = &status["bot"]["signals"];
    assert_eq!((&tally["approved"], &tally["duplicates"]), (&json!(1), &json!(5)), "{status}");
    assert_eq!(tally["malformed"], json!({"command": 1}));
    bot.end();
    assert_eq!(count(&folder, "\"event\":\"outside_signal\""), 2);
    assert_eq!(count(&folder, "command: news"), 1, "one trade of it");
    let proven = folder.run(&["parity", "--journal", "candlewick.db", "--json"]).json();
    assert_eq!(proven["decisions"]["difference"], Value::Null, "{proven}");
    // After a restart it is still known.
    let bot = Live::start(&folder);
    assert_eq!(signal(&folder, &["--buy", "--id", "one"]), json!({"signal": "duplicate"}));
    bot.end();
}
