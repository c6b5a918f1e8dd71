//! A list of 300 entries, edited while a bot trades it.
#![cfg(unix)]

use crate::candlewick::{Folder, NO_LIMITS, SANDBOX_RUN, candles};
use crate::control::Live;
use crate::excerpt::{MINUTE, MONDAY};
use crate::outside_signals::check_parity;
use crate::recording::lines;
use crate::signal_sources::wait_for;
use candlewick_journal::{LineKind, StoredLine};
use candlewick_sandbox::parse_time;
use candlewick_sdk::Millis;
use serde_json::Value;
use std::collections::BTreeSet;

const BOT: &str = "[signals]\nlist = \"list.csv\"\n[[bots]]\nname = \"btc\"\nsymbol = \"BTCUSDT\"\n\
                   interval = \"1m\"\nstrategy = \"coin\"\nparams = { share = 0.0 }\nclose_type = \"01:00\"\n";

/// Returns entries, four minutes apart; the shift moves half of them.
fn entries(shift: i64) -> BTreeSet<i64> {
    (0..300).map(|place| place * 4 + place % 2 * shift).collect()
}

fn list(shift: i64) -> String {
    let line = |minute: &i64| {
        let direction = if minute % 10 == 0 { "CALL" } else { "PUT" };
        format!("M1;BTCUSDT;{:02}:{:02};{direction}\n", minute / 60, minute % 60)
    };
    entries(shift).iter().map(line).collect()
}

fn readings(lines: &[StoredLine]) -> Vec<usize> {
    let is_reading = |stored: &StoredLine| {
        let is_named = |text: &str| stored.line.body.contains(text);
        stored.line.kind == LineKind::Note
            && (is_named("list.csv was read") || is_named("list.csv was reloaded"))
    };
    (0..lines.len()).filter(|place| is_reading(&lines[*place])).collect()
}

fn signal_minute(stored: &StoredLine) -> Option<i64> {
    let event: Value = serde_json::from_str(&stored.line.body).unwrap_or_default();
    let is_signal = event["event"] == "outside_signal";
    is_signal.then(|| (parse_time(event["id"].as_str().unwrap()).unwrap().get() - MONDAY) / MINUTE)
}

#[test]
fn each_entry_of_an_edited_list_is_at_most_one_signal_and_parity_explains_all() {
    let folder = Folder::new().with("bot.toml", &format!("{NO_LIMITS}{BOT}"));
    let folder = folder.with("BTCUSDT_1m.csv", &candles(24 * 60));
    let folder = folder.with("list.csv", &list(0)).with("list.new", &list(2));
    let bot = Live::started(folder.command(&[&SANDBOX_RUN[..], &["200"]].concat()));
    let recorded = || lines(&folder.path("run.db"));
    let has_signals = |lines: &[StoredLine]| lines.iter().filter_map(signal_minute).count() > 3;
    wait_for("signals", || has_signals(&recorded()).then_some(()));
    // Editors replace files.
    std::fs::rename(folder.path("list.new"), folder.path("list.csv")).unwrap();
    wait_for("signals of the edited list", || {
        let recorded = recorded();
        let edited = readings(&recorded).get(1).copied()?;
        has_signals(&recorded[edited..]).then_some(())
    });
    bot.end();
    let recorded = recorded();
    let edited = recorded[readings(&recorded)[1]].line.received;
    let mut given = BTreeSet::new();
    for stored in &recorded {
        let Some(minute) = signal_minute(stored) else { continue };
        assert!(given.insert(minute), "minute {minute} came twice");
        let after = stored.line.received - edited;
        // A signal given just before the file is read may reach the session after it.
        assert!(entries(2).contains(&minute) || after < Millis::MINUTE, "minute {minute} of the old list");
        assert!(entries(0).contains(&minute) || after.get() > -MINUTE, "minute {minute} of the new list");
    }
    let is_decision = |stored: &&StoredLine| {
        stored.line.kind == LineKind::Action && stored.line.body.contains("signal from list")
    };
    assert_eq!(recorded.iter().filter(is_decision).count(), given.len(), "one decision each");
    check_parity(&folder, "run.db");
}
