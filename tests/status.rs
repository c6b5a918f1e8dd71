//! `status`: which limits are in force and how far each is used, which journal is meant, and what `--quiet` leaves out.

use crate::candlewick::Folder;
use crate::recording::{folder, record_in_lock_step};
use candlewick_sdk::Millis;
use serde_json::{Value, json};

const LIMITS: &str = "max_trades_per_day = 500\ndaily_loss_limit = 5000\nmax_loss_streak = 400\n";
const OWN: &str = "[risk.bots.btc]\nmax_trades_per_day = 400\ndaily_loss_limit = 4000\n[broker]\n";

/// A run of six hours of one day, whose bots have limits of their own and together.
fn recorded() -> Folder {
    let folder = folder();
    let bots = folder.read("bots.toml");
    let off = "max_trades_per_day = 0\ndaily_loss_limit = 0\n";
    assert!(bots.contains(off) && bots.contains("[broker]\n"));
    std::fs::write(folder.path("bots.toml"), bots.replace(off, LIMITS).replace("[broker]\n", OWN)).unwrap();
    assert_eq!(record_in_lock_step(&folder).code, 0);
    folder
}

/// Trades of the day and what they have lost, of these rows of `trades --json`; what is still open counts as lost.
fn counted<'a>(trades: impl Iterator<Item = &'a Value>) -> (f64, f64) {
    let (mut count, mut profit) = (0.0, 0.0);
    for trade in trades.filter(|trade| !trade["open_time"].is_null()) {
        count += 1.0;
        profit += trade["pnl"].as_f64().unwrap_or_else(|| -trade["amount"].as_f64().unwrap());
    }
    (count, (-profit).max(0.0))
}

#[test]
fn limits_in_force_are_shown_with_what_the_trades_have_used_of_them() {
    let folder = recorded();
    let run = |arguments: &[&str]| folder.run(&[arguments, &["--journal", "run.db"]].concat());
    let trades = run(&["trades", "--json"]).json();
    let trades = trades.as_array().unwrap();
    let (count, lost) = counted(trades.iter());
    let (own_count, own_lost) = counted(trades.iter().filter(|trade| trade["bot"] == "btc"));
    assert!(count > own_count && own_count > 0.0, "{count} {own_count}");
    let status = run(&["status", "--json"]).json();
    let limits = status["limits"].as_array().unwrap();
    let used = |bot: Value, name: &str| {
        let limit = limits.iter().find(|limit| limit["bot"] == bot && limit["name"] == name);
        let limit = limit.unwrap_or_else(|| panic!("no {name} of {bot}: {status:#}"));
        (limit["value"].as_f64().unwrap(), limit["most"].as_f64().unwrap())
    };
    assert_eq!(used(json!(null), "max_trades_per_day"), (count, 500.0));
    assert_eq!(used(json!("btc"), "max_trades_per_day"), (own_count, 400.0));
    for (bot, lost, most) in [(json!(null), lost, 5000.0), (json!("btc"), own_lost, 4000.0)] {
        let (value, limit) = used(bot, "daily_loss_limit");
        assert!((value - lost).abs() < 0.005 && (limit - most).abs() < 1e-9, "{value} is not {lost}");
    }
    // A limit that is off is none.
    assert!(!limits.iter().any(|limit| limit["name"] == "max_open_trades" || limit["bot"] == "gbp"));
    let shown = run(&["status"]).stdout;
    for line in [format!("trades today {count} of 500"), format!("btc: trades today {own_count} of 400")] {
        assert!(shown.contains(&line), "no {line:?} in\n{shown}");
    }
}

#[test]
fn a_quiet_status_prints_nothing_but_a_document_that_is_asked_for() {
    let folder = folder();
    record_in_lock_step(&folder);
    let run = |arguments: &[&str]| folder.run(&[arguments, &["--quiet", "--journal", "run.db"]].concat());
    let quiet = run(&["status"]);
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    assert_eq!(run(&["status", "--running"]).code, 5);
    assert_eq!(run(&["status", "--json"]).json()["runs"], 1);
}

#[test]
fn where_no_journal_is_named_the_usual_one_is_meant_and_others_that_lie_here_are_named() {
    let folder = folder();
    record_in_lock_step(&folder);
    let missing = folder.run(&["status"]);
    missing.fails(2, &["there is no journal at sqlite://candlewick.db", "--journal run.db"]);
    std::fs::copy(folder.path("run.db"), folder.path("candlewick.db")).unwrap();
    let said = folder.run(&["status"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let note =
        "no journal is named: this is candlewick.db, the usual one; others in this folder: --journal run.db";
    assert!(said.stderr.contains(note), "{}", said.stderr);
    assert_eq!(folder.run(&["status", "--journal", "candlewick.db"]).stderr, "");
    assert_eq!(folder.run(&["status", "--quiet"]).stderr, "");
}

#[test]
fn a_pause_that_is_under_way_and_the_next_stake_of_a_ladder_are_shown() {
    let folder = folder();
    let bots = folder.read("bots.toml");
    let pause = "[risk]\npauses = [{ after = 1, of = \"losses\" }]\n";
    let ladder = "stake = { kind = \"martingale\", amount = 10, factor = 2.0, levels = 3 }\n";
    assert!(bots.contains("[risk]\n"), "{bots}");
    let bots = bots.replacen("[risk]\n", pause, 1);
    let bots = bots.split("[[bots]]\n").collect::<Vec<_>>().join(&format!("[[bots]]\n{ladder}"));
    std::fs::write(folder.path("bots.toml"), bots).unwrap();
    let recorded = record_in_lock_step(&folder);
    assert_eq!(recorded.code, 0, "{}", recorded.stderr);
    let run = |arguments: &[&str]| folder.run(&[arguments, &["--journal", "run.db"]].concat());
    let trades = run(&["trades", "--json"]).json();
    let trades = trades.as_array().unwrap();
    assert!(trades.iter().any(|trade| trade["result"] == "LOST"), "{trades:?}");
    let status = run(&["status", "--json"]).json();
    // The day of the first loss rests: it ends at midnight, and the run within it.
    let until = status["pauses"][0]["until"].as_i64().unwrap_or_else(|| panic!("{status:#}"));
    assert_eq!((until % 86_400_000, &status["pauses"][0]["after"]), (0, &json!("1 loss in a row")));
    for ladder in status["ladders"].as_array().unwrap() {
        // By hand: each loss since the last win or top doubles the 10.
        let own = trades.iter().filter(|trade| trade["bot"] == ladder["bot"]);
        let level = own.fold(0, |level, trade| match trade["result"].as_str() {
            Some("LOST") => (level + 1) % 3,
            Some("WON") => 0,
            _ => level,
        });
        let stake = [10.0, 20.0, 40.0][level];
        assert_eq!(
            (&ladder["level"], &ladder["next_stake"]),
            (&json!(level + 1), &json!(stake)),
            "{status:#}"
        );
    }
    let shown = run(&["status"]).stdout;
    assert!(shown.contains("T00:00:00.000Z (pause: 1 loss in a row)"), "{shown}");
    assert!(shown.contains("of 3)") && shown.contains("next stake"), "{shown}");
    let refused = run(&["why"]).stdout;
    let rests =
        format!("resting until {} after 1 loss in a row", candlewick_records::utc(Millis::new(until)));
    let last = refused.split('"').nth(1).unwrap();
    let said = run(&["why", last]).stdout;
    assert!(said.contains(&rests), "{rests}: {said}");
    assert!(!refused.contains("now in_doubt"), "{refused}");
}
