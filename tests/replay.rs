//! `parity` on recorded sessions: in lock-step, under faults, edited and forged.

use crate::candlewick::Folder;
#[cfg(unix)]
use crate::consecutive_runs::{read_trades, run_until, venue_and_bot};
use crate::excerpt::{DAY, HOUR, MONDAY};
use crate::recording::{edit, folder, lines, record_in_lock_step, record_under, write};
use candlewick_journal::{Line, LineKind, StoredLine};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn failed_parity(folder: &Folder, journal: &str) -> (Value, String) {
    let run = folder.run(&["parity", "--journal", journal, "--json"]);
    assert_eq!(run.code, 5, "{}", run.stderr);
    (serde_json::from_str(&run.stdout).unwrap(), run.stderr)
}

fn line_bodies(recorded: &[StoredLine]) -> impl Iterator<Item = &str> {
    recorded.iter().map(|stored| stored.line.body.as_str())
}

fn causes(parity: &Value) -> Vec<&String> {
    parity["outcomes"]["causes"].as_object().unwrap().keys().collect()
}

#[test]
fn session_under_faults_replays_identically_and_each_difference_has_a_cause() {
    let (mut intents, mut met) = (0, BTreeSet::new());
    for profile in
        ["mixed", "mixed,latency:1:20ms", "drop-after:0.5,errors-after:0.3", "errors:0.3,latency:1:40ms"]
    {
        let folder = folder();
        record_under(&folder, profile);
        let parity = folder.query("parity", "run.db");
        assert_eq!((&parity["ok"], &parity["unexplained"]), (&json!(true), &json!(0)), "{profile}: {parity}");
        assert_eq!(parity["decisions"]["difference"], Value::Null, "{profile}");
        let outcomes = &parity["outcomes"];
        met.extend(causes(&parity).into_iter().cloned());
        intents += outcomes["intents"].as_u64().unwrap();
        let differing = outcomes["differing"].as_array().unwrap();
        let is_explained = |trade: &Value| !trade["causes"].as_array().unwrap().is_empty();
        assert!(differing.iter().all(is_explained), "{profile}: {differing:?}");
        let agree = outcomes["agree"].as_u64().unwrap();
        assert_eq!(outcomes["intents"].as_u64(), Some(agree + differing.len() as u64), "{profile}");
    }
    assert!(intents >= 20, "{intents} intents");
    assert!(met.contains("refusal"), "{met:?}");
}

#[test]
fn identifies_an_edit_a_forgery_and_another_venue_by_cause() {
    let folder = folder();
    let live = record_in_lock_step(&folder).json();
    check_edited(&folder);
    check_forged(&folder);
    check_settings(&folder, &live);
}

fn check_edited(folder: &Folder) {
    let is_decision = |row: &&StoredLine| row.line.kind == LineKind::Action && row.line.intent == Some(7);
    let decision = lines(&folder.path("run.db")).iter().find(is_decision).unwrap().seq;
    for (index, (change, differing)) in (0..).zip([
        ("UPDATE entries SET body = replace(body, '\"stake\":1000', '\"stake\":2000')", decision),
        ("UPDATE entries SET body = replace(replace(body, 'BUY', 'x'), 'SELL', 'BUY')", decision),
        ("UPDATE entries SET body = '{'", decision),
        ("DELETE FROM entries", decision + 1),
    ]) {
        let name = format!("edited-{index}.db");
        std::fs::copy(folder.path("run.db"), folder.path(&name)).unwrap();
        edit(&folder.path(&name), format!("{change} WHERE kind = 'action' AND intent = 7").leak());
        let (report, printed) = failed_parity(folder, &name);
        let chain = &report["chain"];
        assert_eq!((&chain["state"], &chain["seq"]), (&json!("broken"), &json!(decision)), "{change}");
        assert_eq!(report["decisions"]["difference"]["seq"], differing, "{change}: {report}");
        assert!(printed.contains(&format!("entry {decision}")), "{change}: {printed}");
    }
    folder.run(&["parity", "--journal", "none.db"]).fails(2, &["none.db"]);
}

/// The program itself can forge a chain, but no decisions.
fn check_forged(folder: &Folder) {
    let recorded = lines(&folder.path("run.db"));
    for (index, (is_it, from, to, problem)) in (0..).zip([
        ("\"action\":\"open\",\"intent\":9,", "\"stake\":1000", "\"stake\":900", "decision differs"),
        ("\"action\":\"refuse\"", "MaxOpenTradesPerSymbol", "Cooldown", "decision differs"),
        ("\"event\":\"settled\"", "\"profit\":-1000", "\"profit\":-900", "1 outcome differs"),
        ("\"format\":", "\"rsi-reversal\",\"1.0.0\"", "\"rsi-reversal\",\"0.9.0\"", "0.9.0"),
        ("\"format\":", "\"rsi-reversal\",\"1.0.0\"", "\"sold-secrets\",\"1.0.0\"", "\"sold-secrets\""),
    ]) {
        let place = line_bodies(&recorded).position(|body| body.contains(is_it) && body.contains(from));
        let place = place.unwrap();
        let mut forged: Vec<Line> = recorded.iter().map(|stored| stored.line.clone()).collect();
        forged[place].body = forged[place].body.replacen(from, to, 1);
        let name = format!("forged-{index}.db");
        write(&folder.path(&name), forged);
        let (report, printed) = failed_parity(folder, &name);
        assert_eq!(report["chain"]["state"], "whole");
        assert!(printed.contains(problem), "{problem}: {printed}");
        let difference = &report["decisions"]["difference"];
        assert!(difference.is_null() || difference["seq"] == recorded[place].seq, "{problem}: {report}");
    }
}

fn check_settings(folder: &Folder, live: &Value) {
    let recorded = lines(&folder.path("run.db"));
    let (won, settled) = (live["won"].as_u64().unwrap(), live["trades"].as_u64().unwrap());
    for (from, to, cause, (least, most)) in [
        ("\"latency_ms\":2000", "\"latency_ms\":7000", "latency", (settled, u64::MAX)),
        ("\"payout_percent\":80.0", "\"payout_percent\":85.0", "payout", (won, won)),
        ("\"path\":\"linear\"", "\"path\":\"open\"", "price_source", (settled / 2, u64::MAX)),
    ] {
        let name = format!("{cause}.db");
        let change = |line: &Line| Line { body: line.body.replacen(from, to, 1), ..line.clone() };
        assert!(recorded[0].line.body.contains(from), "{from}");
        write(&folder.path(&name), recorded.iter().map(|stored| change(&stored.line)));
        let parity = folder.query("parity", &name);
        assert_eq!(causes(&parity), [cause]);
        let count = parity["outcomes"]["causes"][cause].as_u64().unwrap();
        assert!((least..=most).contains(&count), "{cause}: {count} of {settled}");
    }
}

/// The decisions of a signal list do not depend on candles, so entries can be removed.
#[test]
fn reports_a_missing_entry_as_the_cause_of_a_difference() {
    let decided = MONDAY + DAY + 3 * HOUR;
    let bot = "[[bots]]\nname = \"list\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"signal-list\"\n\
               close_type = \"01:00\"\nparams = { file = \"signals.csv\" }\n";
    let folder = folder()
        .with("list.toml", bot)
        .with("signals.csv", &format!("time,symbol,direction\n{decided},BTCUSDT,BUY\n"));
    let arguments = ["live", "--sandbox", "--speed", "max", "--until-end", "--json", "--quiet"];
    let more = ["--config", "list.toml", "--journal", "list.db", "--data", "BTCUSDT_1m.csv"];
    assert_eq!(folder.run(&[&arguments[..], &more].concat()).json()["trades"], 1);
    let recorded = lines(&folder.path("list.db"));
    let candle = |time: i64| format!("\"candle\":{{\"time\":{time},");
    for (index, (missing, expected)) in (0..).zip([
        // It opened inside the candle that opens at the decision, and closed inside the next one.
        (candle(decided), &["gap"][..]),
        (candle(decided + 60_000), &["gap"]),
        (candle(decided + HOUR), &[]),
        ("\"event\":\"settled\"".to_owned(), &["end_of_recording"]),
    ]) {
        assert_eq!(line_bodies(&recorded).filter(|body| body.contains(&missing)).count(), 1, "{missing}");
        let kept = recorded.iter().filter(|stored| !stored.line.body.contains(&missing));
        let name = format!("without-{index}.db");
        write(&folder.path(&name), kept.map(|stored| stored.line.clone()));
        let parity = folder.query("parity", &name);
        assert_eq!(parity["decisions"]["difference"], Value::Null, "{parity}");
        assert_eq!(causes(&parity), expected, "{missing}: {parity}");
    }
}

/// Orders take real time, while the settings assume none.
#[cfg(unix)]
#[test]
fn finds_latency_prices_and_payouts_of_a_venue_other_than_its_settings() {
    let (_served, folder) = venue_and_bot("[simulation]\npayout_percent = 70.0\npath = \"open\"\n");
    // Prices repeat after seven seconds, so there are wins and losses.
    let live = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--quiet"];
    let has_both = || {
        let trades = read_trades(&folder, "run.db");
        ["WON", "LOST"].iter().all(|word| trades.iter().filter(|trade| trade["result"] == **word).count() > 1)
    };
    let live = run_until(&folder, &live, has_both).json();
    assert!(live["won"].as_u64() > Some(0) && live["lost"].as_u64() > Some(0), "{live}");
    let parity = folder.query("parity", "run.db");
    assert_eq!((&parity["ok"], &parity["unexplained"]), (&json!(true), &json!(0)), "{parity}");
    assert_eq!(parity["decisions"]["difference"], Value::Null, "{parity}");
    let causes = &parity["outcomes"]["causes"];
    assert_eq!(causes["payout"], live["won"], "{parity}");
    let is_met = ["latency", "price_source", "payout", "gap"].map(|cause| causes[cause].as_u64() > Some(0));
    assert_eq!(is_met, [true, true, true, false], "{parity}");
}
