//! A list of 300 entries that is edited while the program runs, in a night in which clocks are changed.
#![cfg(unix)]

use crate::candlewick::{Folder, SANDBOX_RUN};
use crate::control::Live;
use crate::excerpt::MINUTE;
use crate::recording::lines;
use candlewick_broker::clock::Stopwatch;
use candlewick_journal::{LineKind, StoredLine};
use candlewick_sandbox::parse_time;
use candlewick_sdk::Millis;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

/// How long one reading of the file is waited for.
const PATIENCE: Duration = Duration::from_mins(2);
/// In Berlin it is 01:40, and at 01:00 UTC the clock goes from 02:00 to 03:00.
const BEGIN: &str = "2026-03-29T00:40:00Z";
const CHANGE: &str = "2026-03-29T01:00:00Z";

const BOT: &str = "[signals]\nlist = \"list.csv\"\ntimezone = \"Europe/Berlin\"\n\
                   [risk]\nmax_open_trades = 0\nmax_open_trades_per_symbol = 0\nmax_trades_per_day = 0\ndaily_loss_limit = 0\n\
                   max_drawdown_percent = 0\nallow_duplicate = true\nallow_opposite = true\n\
                   [[bots]]\nname = \"btc\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"coin\"\n\
                   params = { share = 0.0 }\nclose_type = \"01:00\"\n";

fn at(text: &str) -> i64 {
    parse_time(text).unwrap().get()
}

/// Candles of a day from there on.
fn candles() -> String {
    let mut text = "time,open,high,low,close,volume\n".to_owned();
    for minute in 0..24 * 60 {
        let price = 100 + minute % 7;
        let time = at(BEGIN) + minute * MINUTE;
        writeln!(text, "{time},{price},{},{price},{},1", price + 1, price + minute % 2).unwrap();
    }
    text
}

/// 300 entries of one version, a local time each: some stay, some go, and some come with each version.
fn version(number: usize) -> BTreeSet<String> {
    let minutes = (0..300).map(|place| 100 + place * 4 + if place % 2 == 0 { 0 } else { number % 4 });
    minutes.map(|minute| format!("{:02}:{:02}", minute / 60 % 24, minute % 60)).collect()
}

fn text_of(version: &BTreeSet<String>) -> String {
    let mut text = String::new();
    for time in version {
        let direction = if time.ends_with('0') { "CALL" } else { "PUT" };
        writeln!(text, "M1;BTCUSDT;{time};{direction}").unwrap();
    }
    text
}

/// What the list read, of the journal's notes, with the mark of each text.
fn readings(lines: &[StoredLine]) -> Vec<(usize, String)> {
    let notes = lines.iter().enumerate().filter(|(_, stored)| stored.line.kind == LineKind::Note);
    let read = notes.filter(|(_, stored)| stored.line.body.contains("list.csv was read"));
    let mark = |body: &str| body.rsplit_once('(').unwrap().1.split(')').next().unwrap().to_owned();
    read.map(|(place, stored)| (place, mark(&stored.line.body))).collect()
}

/// The local time of an entry in Berlin, as the list has it.
fn local(moment: i64) -> String {
    let hours = if moment < at(CHANGE) { 1 } else { 2 };
    let minute = (moment / MINUTE + hours * 60) % (24 * 60);
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

/// Whether it is a signal whose moment would be another one if no clock had been changed.
fn is_long_after_the_change(stored: &StoredLine) -> bool {
    let event: Value = serde_json::from_str(&stored.line.body).unwrap_or_default();
    event["event"] == "outside_signal" && at(event["id"].as_str().unwrap()) > at(CHANGE) + 15 * MINUTE
}

#[test]
fn each_entry_of_an_edited_list_is_one_signal_while_it_stands_there_and_parity_explains_all() {
    let folder = Folder::new().with("bot.toml", BOT).with("BTCUSDT_1m.csv", &candles());
    let path = folder.path("list.csv");
    std::fs::write(&path, text_of(&version(0))).unwrap();
    let bot = Live::started(folder.command(&[&SANDBOX_RUN[..], &["200"]].concat()));
    for edit in 1..5 {
        let watch = Stopwatch::start();
        while readings(&lines(&folder.path("run.db"))).len() < edit {
            assert!(watch.elapsed() < PATIENCE, "reading {edit} was not noted");
            std::thread::sleep(Duration::from_millis(100));
        }
        // Written beside it and put in its place, as an editor does.
        std::fs::write(folder.path("list.new"), text_of(&version(edit))).unwrap();
        std::fs::rename(folder.path("list.new"), &path).unwrap();
    }
    let watch = Stopwatch::start();
    while !lines(&folder.path("run.db")).iter().any(is_long_after_the_change) {
        assert!(watch.elapsed() < PATIENCE, "no signal came after the clock went on");
        std::thread::sleep(Duration::from_millis(100));
    }
    bot.end();
    let recorded = lines(&folder.path("run.db"));
    let read = readings(&recorded);
    assert!(read.len() >= 4, "{read:?}");
    let marks: BTreeSet<&String> = read.iter().map(|(_, mark)| mark).collect();
    let texts: BTreeSet<_> = (0..read.len()).map(version).collect();
    assert_eq!(marks.len(), texts.len(), "a mark for each text");
    let (mut given, mut actions) = (BTreeSet::new(), 0);
    for (place, stored) in recorded.iter().enumerate() {
        actions += usize::from(
            stored.line.kind == LineKind::Action && stored.line.body.contains("signal from list"),
        );
        let event: Value = serde_json::from_str(&stored.line.body).unwrap_or_default();
        if event["event"] != "outside_signal" {
            continue;
        }
        let moment = at(event["id"].as_str().unwrap());
        assert!(given.insert(moment), "{event} came twice");
        let reading = read.iter().filter(|(noted, _)| *noted < place).count();
        // One that was given just before a reading may reach the Session after it.
        let noted = read.get(reading.wrapping_sub(1)).map(|(noted, _)| recorded[*noted].line.received);
        let is_just_after = noted.is_none_or(|noted| stored.line.received - noted < Millis::MINUTE);
        let mut standing = version(reading.saturating_sub(1));
        if is_just_after {
            standing.extend(version(reading.saturating_sub(2)));
            standing.extend(version(reading));
        }
        assert!(standing.contains(&local(moment)), "{} stood in no list of reading {reading}", local(moment));
    }
    assert!(given.len() > 3, "{} signals", given.len());
    assert_eq!(actions, given.len(), "one decision each");
    let parity = folder.run(&["parity", "--journal", "run.db", "--json"]).json();
    assert_eq!((&parity["ok"], &parity["unexplained"]), (&json!(true), &json!(0)), "{parity}");
    assert_eq!(parity["decisions"]["difference"], Value::Null, "{parity}");
}
