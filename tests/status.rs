//! `status`: limits and how far each is used, pauses, ladders, and the journal it reads.

use crate::recording::{folder, record_in_lock_step};
use serde_json::{Value, json};

const LIMITS: &str = "max_trades_per_day = 500\ndaily_loss_limit = 5000\nmax_loss_streak = 400\n";
const OWN: &str = "[risk.bots.btc]\nmax_trades_per_day = 400\ndaily_loss_limit = 4000\n[broker]\n";

/// Returns the number of opened trades and their loss. Open stakes count as lost.
fn counted<'a>(trades: impl Iterator<Item = &'a Value>) -> (f64, f64) {
    let (mut count, mut profit) = (0.0, 0.0);
    for trade in trades.filter(|trade| !trade["open_time"].is_null()) {
        count += 1.0;
        profit += trade["pnl"].as_f64().unwrap_or_else(|| -trade["amount"].as_f64().unwrap());
    }
    (count, (-profit).max(0.0))
}

#[test]
fn limits_show_what_the_trades_have_used_of_them() {
    let folder = folder();
    let bots = folder.read("bots.toml");
    let off = "max_trades_per_day = 0\ndaily_loss_limit = 0\n";
    assert!(bots.contains(off) && bots.contains("[broker]\n"));
    let folder = folder.with("bots.toml", &bots.replace(off, LIMITS).replace("[broker]\n", OWN));
    assert_eq!(record_in_lock_step(&folder).code, 0);
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
    // A limit that is off is not listed.
    assert!(!limits.iter().any(|limit| limit["name"] == "max_open_trades" || limit["bot"] == "gbp"));
}

#[test]
fn status_reads_the_default_journal_names_others_nearby_and_is_silent_with_quiet() {
    let folder = folder();
    record_in_lock_step(&folder);
    folder.run(&["status"]).fails(2, &["candlewick.db", "--journal run.db"]);
    std::fs::copy(folder.path("run.db"), folder.path("candlewick.db")).unwrap();
    let run = folder.run(&["status"]);
    assert!(run.code == 0 && run.stderr.contains("--journal run.db"), "{}", run.stderr);
    assert_eq!(folder.run(&["status", "--journal", "candlewick.db"]).stderr, "");
    let quiet = folder.run(&["status", "--quiet"]);
    assert_eq!((quiet.code, &*quiet.stdout, &*quiet.stderr), (0, "", ""));
    assert_eq!(folder.run(&["status", "--quiet", "--running"]).code, 5);
    assert_eq!(folder.run_line("status --quiet --json --journal run.db").json()["runs"], 1);
}

#[test]
fn a_pause_and_the_next_stake_of_each_ladder_are_shown() {
    let folder = folder();
    let bots = folder.read("bots.toml");
    let pause = "[risk]\npauses = [{ after = 1, of = \"losses\" }]\n";
    let ladder = "stake = { kind = \"martingale\", amount = 10, factor = 2.0, levels = 3 }\n";
    assert!(bots.contains("[risk]\n"), "{bots}");
    let bots = bots.replacen("[risk]\n", pause, 1);
    let bots = bots.split("[[bots]]\n").collect::<Vec<_>>().join(&format!("[[bots]]\n{ladder}"));
    let folder = folder.with("bots.toml", &bots);
    assert_eq!(record_in_lock_step(&folder).code, 0);
    let read = |command: &str| folder.run(&[command, "--json", "--journal", "run.db"]).json();
    let (trades, status) = (read("trades"), read("status"));
    let trades = trades.as_array().unwrap();
    assert!(trades.iter().any(|trade| trade["result"] == "LOST"), "{trades:?}");
    // The rest of the day is a pause: it ends at midnight, and the run before that.
    let until = status["pauses"][0]["until"].as_i64().unwrap_or_else(|| panic!("{status:#}"));
    assert_eq!(until % 86_400_000, 0);
    let decisions = read("why")["decisions"].take();
    assert!(decisions.as_array().unwrap().iter().any(|decision| decision["rule"] == "Pause"), "{decisions}");
    let ladders = status["ladders"].as_array().unwrap();
    assert!(!ladders.is_empty(), "{status:#}");
    for ladder in ladders {
        // Each loss since the last win or top level doubles the 10.
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
}
