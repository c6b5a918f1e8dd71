//! A journal that an earlier program wrote, read by this one: as that one read it.

use crate::candlewick::{Folder, repository};
use serde_json::{Value, json};

/// A folder with a copy of it.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::copy(fixture("run.db"), folder.path("run.db")).unwrap();
    folder
}

fn fixture(name: &str) -> std::path::PathBuf {
    repository().join("tests/fixtures/journal-before-delays").join(name)
}

/// What the earlier program said of it.
fn said(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(fixture(name)).unwrap()).unwrap()
}

/// Whether everything that the earlier program said is said again; what has been added since is no difference.
fn assert_says(now: &Value, then: &Value, place: &str) {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            for (key, value) in then {
                assert_says(now.get(key).unwrap_or(&Value::Null), value, &format!("{place}.{key}"));
            }
        }
        (Value::Array(now), Value::Array(then)) => {
            assert_eq!(now.len(), then.len(), "{place}");
            for (index, (now, then)) in now.iter().zip(then).enumerate() {
                assert_says(now, then, &format!("{place}[{index}]"));
            }
        }
        _ => assert_eq!(now, then, "{place}"),
    }
}

#[test]
fn a_journal_from_before_entry_delays_reads_replays_and_explains_as_it_did() {
    let folder = folder();
    let run = |arguments: &[&str]| folder.run(&[arguments, &["--journal", "run.db"]].concat());
    let verified = run(&["journal", "verify"]);
    assert_eq!(verified.code, 0, "{}", verified.stderr);
    // The hash that the earlier program printed.
    let hash = "ee78a0cab90508b8c41fd1dedc6e312e9d0115ed5965beaaea1f85eba057dad3";
    assert!(verified.stdout.contains("177 entries") && verified.stdout.contains(hash), "{}", verified.stdout);
    assert_says(&run(&["trades", "--json"]).json(), &said("trades.json"), "trades");
    // Limits have come since, and those have a test of their own.
    let mut status = said("status.json");
    status.as_object_mut().unwrap().remove("limits");
    assert_says(&run(&["status", "--json"]).json(), &status, "status");
    let mut explained = run(&["explain", "1", "--json"]).json();
    let rules = explained["passed_rules"].as_array_mut().unwrap();
    // Then a part of MaxOpenTrades, and a rule that did not exist.
    rules.retain(|rule| rule != "MaxOpenTradesPerSymbol" && rule != "RefusedByVenue");
    assert_says(&explained, &said("explain-1.json"), "explain 1");
    let parity = run(&["parity", "--json"]).json();
    assert_eq!((&parity["ok"], &parity["unexplained"]), (&json!(true), &json!(0)), "{parity}");
    assert_eq!(parity["decisions"]["difference"], Value::Null, "{parity}");
    assert_eq!(parity["outcomes"]["agree"], 9, "{parity}");
}

#[test]
fn a_refusal_under_the_one_name_of_two_limits_says_which_it_was() {
    let folder = folder();
    // One trade was open, on that symbol: of two of all, and of one of the symbol.
    let why = folder.run(&["why", "2026-01-05T00:37:00Z", "--journal", "run.db"]).stdout;
    let words = "open-trade limit of the symbol (MaxOpenTradesPerSymbol: max_open_trades_per_symbol = 1)";
    assert!(why.contains(words), "{why}");
}
