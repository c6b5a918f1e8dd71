//! `parity` on recorded sessions: in lock-step, under faults, edited, over a restart.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, HOUR, MONDAY};
use crate::recording::{edit, folder, lines, record_in_lock_step, record_under, write};
#[cfg(unix)]
use crate::two_runs::{run_until, trades_of, venue_and_bot};
use candlewick_journal::{Line, LineKind};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PARITY: [&str; 4] = ["parity", "--journal", "run.db", "--json"];

#[test]
fn a_lock_step_session_decides_alike_and_every_trade_comes_out_as_simulated() {
    let folder = folder();
    let live = record_in_lock_step(&folder).json();
    let parity = folder.run(&PARITY).json();
    assert_eq!(parity["ok"], true);
    assert_eq!(parity["decisions"]["difference"], Value::Null);
    let intents = parity["outcomes"]["intents"].as_u64().unwrap();
    assert!(intents > 100, "{intents}");
    // What the end of the candles left open is open in both.
    assert_eq!(live["trades"].as_u64().unwrap() + live["unsettled"].as_u64().unwrap(), intents);
    assert_eq!(parity["outcomes"]["agree"].as_u64(), Some(intents), "{}", parity["outcomes"]);
    let printed = folder.run(&["parity", "--journal", "run.db"]);
    assert!(printed.stdout.contains("identical") && printed.code == 0, "{}", printed.stdout);
}

#[test]
fn a_session_under_faults_and_latency_decides_alike_and_every_difference_has_a_cause() {
    let (mut intents, mut causes) = (0, BTreeSet::new());
    for profile in
        ["mixed", "mixed,latency:1:20ms", "drop-after:0.5,errors-after:0.3", "errors:0.3,latency:1:40ms"]
    {
        let folder = folder();
        record_under(&folder, profile);
        let parity = folder.run(&PARITY).json();
        assert_eq!((&parity["ok"], &parity["unexplained"]), (&json!(true), &json!(0)), "{profile}: {parity}");
        assert_eq!(parity["decisions"]["difference"], Value::Null, "{profile}");
        let outcomes = &parity["outcomes"];
        causes.extend(outcomes["causes"].as_object().unwrap().keys().cloned());
        intents += outcomes["intents"].as_u64().unwrap();
        let differing = outcomes["differing"].as_array().unwrap();
        for trade in differing {
            assert!(!trade["causes"].as_array().unwrap().is_empty(), "{profile}: {trade}");
        }
        let agree = outcomes["agree"].as_u64().unwrap();
        assert_eq!(outcomes["intents"].as_u64(), Some(agree + differing.len() as u64), "{profile}");
    }
    assert!(intents >= 20, "{intents} intents");
    assert!(causes.contains("refusal"), "{causes:?}");
}

/// Edits a recorded session; answers what `parity` says of it on stdout and stderr.
fn check_edited(folder: &Folder, name: &str, sql: &'static str) -> (Value, String) {
    std::fs::copy(folder.path("run.db"), folder.path(name)).unwrap();
    edit(&folder.path(name), sql);
    let run = folder.run(&["parity", "--journal", name, "--json"]);
    assert_eq!(run.code, 5, "{sql}: {}", run.stderr);
    (serde_json::from_str(&run.stdout).unwrap(), run.stderr)
}

#[test]
fn a_journal_that_was_edited_by_hand_fails_and_the_entry_is_named() {
    let folder = folder();
    record_in_lock_step(&folder);
    let recorded = lines(&folder.path("run.db"));
    let decision =
        recorded.iter().find(|stored| stored.line.kind == LineKind::Action && stored.line.intent == Some(7));
    let decision = decision.unwrap().seq;
    for (index, (sql, is_decision)) in [
        ("UPDATE entries SET body = replace(body, '\"stake\":1000', '\"stake\":2000') WHERE kind = 'action' AND intent = 7", true),
        ("UPDATE entries SET body = replace(replace(body, 'BUY', 'x'), 'SELL', 'BUY') WHERE kind = 'action' AND intent = 7", true),
        ("UPDATE entries SET body = '{' WHERE kind = 'action' AND intent = 7", true),
        ("DELETE FROM entries WHERE kind = 'action' AND intent = 7", false),
    ]
    .into_iter()
    .enumerate()
    {
        let (report, printed) = check_edited(&folder, &format!("edited-{index}.db"), sql);
        assert_eq!(report["chain"]["state"], "broken", "{sql}");
        assert_eq!(report["chain"]["seq"].as_u64(), Some(decision), "{sql}");
        let difference = &report["decisions"]["difference"];
        let expected = if is_decision { decision } else { decision + 1 };
        assert_eq!(difference["seq"].as_u64(), Some(expected), "{sql}: {report}");
        assert!(printed.contains(&format!("entry {decision}")), "{sql}: {printed}");
    }
}

/// A chain can be forged with the program itself; what was decided cannot.
#[test]
fn a_forged_journal_fails_by_its_decisions_or_its_outcomes() {
    let folder = folder();
    record_in_lock_step(&folder);
    let recorded = lines(&folder.path("run.db"));
    for (index, (is_it, from, to, problem)) in [
        ("\"action\":\"open\",\"intent\":9,", "\"stake\":1000", "\"stake\":900", "decision differs"),
        ("\"action\":\"refuse\"", "MaxOpenTradesPerSymbol", "Cooldown", "decision differs"),
        ("\"event\":\"settled\"", "\"profit\":-1000", "\"profit\":-900", "1 outcome differs without a cause"),
        ("\"format\":", "\"rsi-reversal\",\"1.0.0\"", "\"rsi-reversal\",\"0.9.0\"", "had version 0.9.0"),
        (
            "\"format\":",
            "\"rsi-reversal\",\"1.0.0\"",
            "\"sold-secrets\",\"1.0.0\"",
            "no strategy \"sold-secrets\"",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("forged-{index}.db");
        let place = recorded
            .iter()
            .position(|stored| stored.line.body.contains(is_it) && stored.line.body.contains(from));
        let place = place.unwrap_or_else(|| panic!("no entry with {is_it} and {from}"));
        let mut forged: Vec<_> = recorded.iter().map(|stored| stored.line.clone()).collect();
        forged[place].body = forged[place].body.replacen(from, to, 1);
        write(&folder.path(&name), forged);
        let run = folder.run(&["parity", "--journal", &name, "--json"]);
        assert_eq!(run.code, 5, "{problem}: {}", run.stderr);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["chain"]["state"], "whole");
        assert!(run.stderr.contains(problem), "{problem}: {}", run.stderr);
        if report["decisions"]["difference"] != Value::Null {
            assert_eq!(
                report["decisions"]["difference"]["seq"].as_u64(),
                Some(recorded[place].seq),
                "{problem}"
            );
        }
    }
}

/// Programs once had one name for the limits of open trades: what they recorded is what is decided today.
#[test]
fn a_refusal_by_the_limit_of_a_symbol_may_bear_the_name_that_it_once_had() {
    let folder = folder();
    record_in_lock_step(&folder);
    let recorded = lines(&folder.path("run.db"));
    let mut renamed = 0;
    let earlier: Vec<Line> = recorded
        .iter()
        .map(|stored| {
            let body = stored.line.body.replace("MaxOpenTradesPerSymbol", "MaxOpenTrades");
            renamed += usize::from(body != stored.line.body);
            Line { body, ..stored.line.clone() }
        })
        .collect();
    assert!(renamed > 0);
    write(&folder.path("earlier.db"), earlier);
    let parity = folder.run(&["parity", "--journal", "earlier.db", "--json"]).json();
    assert_eq!((&parity["ok"], &parity["unexplained"]), (&json!(true), &json!(0)), "{parity}");
    assert_eq!(parity["decisions"]["difference"], Value::Null, "{parity}");
}

/// The same trades, held against a venue of other settings: the setting is the cause.
#[test]
fn each_difference_is_given_its_own_cause() {
    let folder = folder();
    let live = record_in_lock_step(&folder).json();
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
        let parity = folder.run(&["parity", "--journal", &name, "--json"]).json();
        let causes = parity["outcomes"]["causes"].as_object().unwrap();
        assert_eq!(causes.keys().collect::<Vec<_>>(), [cause]);
        let count = causes[cause].as_u64().unwrap();
        assert!((least..=most).contains(&count), "{cause}: {count} of {settled}");
    }
}

#[test]
fn a_journal_that_is_not_there_is_named() {
    Folder::new().run(&PARITY).fails(2, &["there is no journal at sqlite://run.db"]);
}

/// A list of signals decides alike whatever candles there are, so an entry can be taken out of the record.
#[test]
fn what_is_not_in_the_record_is_the_cause() {
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
    for (index, (missing, expected)) in [
        // It opened inside the candle that opens at the decision, and closed inside the next one.
        (candle(decided), &["gap"][..]),
        (candle(decided + 60_000), &["gap"]),
        (candle(decided + HOUR), &[]),
        ("\"event\":\"settled\"".to_owned(), &["end_of_recording"]),
    ]
    .into_iter()
    .enumerate()
    {
        let kept = recorded.iter().filter(|stored| !stored.line.body.contains(&missing));
        let kept: Vec<Line> = kept.map(|stored| stored.line.clone()).collect();
        assert_eq!(kept.len() + 1, recorded.len(), "{missing}");
        let name = format!("without-{index}.db");
        write(&folder.path(&name), kept);
        let parity = folder.run(&["parity", "--journal", &name, "--json"]).json();
        assert_eq!(parity["decisions"]["difference"], Value::Null, "{parity}");
        let causes = parity["outcomes"]["causes"].as_object().unwrap();
        assert_eq!(causes.keys().collect::<Vec<_>>(), expected, "{missing}: {parity}");
    }
}

/// Its orders take real time, where the settings say none.
#[cfg(unix)]
#[test]
fn a_venue_that_pays_and_prices_otherwise_than_the_settings_say_is_found_out() {
    let (_served, folder) = venue_and_bot("[simulation]\npayout_percent = 70.0\npath = \"open\"\n");
    // The prices repeat after seven seconds, so wins and losses come.
    let live = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--quiet"];
    let has_both = || {
        let trades = trades_of(&folder, "run.db");
        ["WON", "LOST"]
            .iter()
            .all(|result| trades.iter().filter(|trade| trade["result"] == **result).count() > 1)
    };
    let live = run_until(&folder, &live, has_both).json();
    assert!(live["won"].as_u64() > Some(0) && live["lost"].as_u64() > Some(0), "{live}");
    let parity = folder.run(&PARITY).json();
    assert_eq!((&parity["ok"], &parity["unexplained"]), (&json!(true), &json!(0)), "{parity}");
    assert_eq!(parity["decisions"]["difference"], Value::Null, "{parity}");
    let causes = &parity["outcomes"]["causes"];
    assert_eq!(causes["payout"], live["won"], "{parity}");
    let said = folder.run(&PARITY[..PARITY.len() - 1]).stdout;
    for (cause, meaning) in [
        ("latency", "the order took another time to reach the venue than the settings assume"),
        ("price_source", "the venue's prices lie within the recorded candles and not on the path"),
        ("payout", "the venue paid another percentage than the settings say"),
    ] {
        assert!(causes[cause].as_u64() > Some(0), "{cause}: {parity}");
        assert_eq!(said.matches(&format!("\n{cause}: {meaning}")).count(), 1, "{said}");
    }
    assert!(!said.contains("\ngap: "), "{said}");
}
