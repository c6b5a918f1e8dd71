//! `status`: pauses, ladders, and the journal it reads.

use crate::recording::{folder, record_in_lock_step};

#[test]
fn status_reads_the_default_journal_lists_others_nearby_and_respects_quiet() {
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
fn shows_a_pause_and_the_next_stake_of_each_ladder() {
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
        assert_eq!(ladder["level"], level + 1, "{status:#}");
        assert_eq!(ladder["next_stake"], [10.0, 20.0, 40.0][level], "{status:#}");
    }
}
