//! Reload of settings: by command, through the journal, by SIGHUP, refused, and replayed by `parity`.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder};
use crate::consecutive_runs::{self, run_until, venue_and_bot};
use crate::control::{Live, venue_and_folder};
use crate::recording;
use candlewick_journal::Line;
use serde_json::{Value, json};
use std::os::unix::net::UnixListener;
use std::process::Command;

const RELOAD: [&str; 4] = ["reload", "--json", "--config", "bot.toml"];
const LIVE: [&str; 3] = ["live", "--config", "bot.toml"];

fn write(folder: &Folder, settings: &str) {
    std::fs::write(folder.path("bot.toml"), format!("{settings}\n{BOT}")).unwrap();
}

fn status(folder: &Folder) -> Value {
    folder.run(&["status", "--json", "--journal", "candlewick.db"]).json()
}

fn reloaded(folder: &Folder, by: &str) -> Value {
    let mut known = (0..2_000).map(|_| status(folder)["reloaded"].clone());
    known.find(|known| known["by"] == by).expect("the reload is in the journal")
}

fn limit(folder: &Folder, name: &str) -> Value {
    let limits = status(folder)["limits"].as_array().cloned().unwrap_or_default();
    limits.into_iter().find(|line| line["name"] == name).map_or(Value::Null, |line| line["most"].clone())
}

fn runs_with(folder: &Folder, text: &str) -> Vec<u64> {
    let lines = recording::lines(&folder.path("candlewick.db"));
    lines.iter().filter(|stored| stored.line.body.contains(text)).map(|stored| stored.line.run).collect()
}

#[test]
fn reload_without_a_bot_leaves_no_order() {
    let folder = Folder::new();
    folder.run(&["reload"]).fails(2, &["candlewick.db.sock", "--journal"]);
    recording::write(&folder.path("candlewick.db"), []);
    folder.run(&["reload"]).fails(2, &["no bot runs"]);
    folder.run(&["resume"]).fails(2, &["nothing to resume"]);
}

#[test]
fn changes_limits_by_command_by_journal_and_by_signal_and_keeps_the_halt() {
    let (_served, folder) = venue_and_folder();
    let bot = Live::start(&folder);
    folder.run(&["halt", "--config", "bot.toml", "--reason", "news"]);
    assert_eq!(status(&folder)["reloaded"], Value::Null);
    write(&folder, "[risk]\nmax_open_trades = 2");
    let answer = folder.run(&RELOAD).json();
    assert_eq!(answer["reloaded"]["changes"], json!(["risk.max_open_trades 3 -> 2"]));
    let state = &answer["state"];
    assert_eq!((&state["phase"], &state["reason"]), (&json!("halted"), &json!("news")));
    assert_eq!(reloaded(&folder, "command"), answer["reloaded"]);

    // With a silent socket, the order goes through the journal, once.
    write(&folder, "[risk]\nmax_open_trades = 2\ndaily_loss_limit = 70");
    let socket = folder.path("candlewick.db.sock");
    std::fs::rename(&socket, folder.path("away.sock")).unwrap();
    let silent = UnixListener::bind(&socket).unwrap();
    let journal = folder.path("candlewick.db").to_string_lossy().into_owned();
    let answer = Folder::new().run(&["reload", "--json", "--journal", &journal]).json();
    assert_eq!(answer["reloaded"]["changes"], json!(["risk.daily_loss_limit 100 -> 70"]));
    assert_eq!([limit(&folder, "daily_loss_limit"), limit(&folder, "max_open_trades")], [70.0, 2.0]);
    assert_eq!(runs_with(&folder, "\"control\":\"reload\"").len(), 2);
    drop(silent);
    std::fs::rename(folder.path("away.sock"), &socket).unwrap();

    write(&folder, "[risk]\nmax_open_trades = 2\ndaily_loss_limit = 80\n[runtime]\nstop_patience_s = 1");
    assert!(Command::new("kill").args(["-s", "HUP", &bot.id()]).status().unwrap().success());
    let changes = json!(["risk.daily_loss_limit 70 -> 80", "runtime.stop_patience_s 30 -> 1"]);
    assert_eq!(reloaded(&folder, "signal")["changes"], changes);
    assert_eq!(bot.end(), Some(130));
    assert_eq!(limit(&folder, "daily_loss_limit"), 80.0, "without a bot, too");
}

#[test]
fn names_wrong_and_unchangeable_settings_and_never_blocks_on_a_pipe() {
    let (_served, folder) = venue_and_folder();
    let bot = Live::start(&folder);
    let journal = folder.path("candlewick.db").to_string_lossy().into_owned();
    let second = BOT.replace("\"btc\"", "\"second\"");
    for (settings, parts) in [
        ("[risk]\nmax_open = 1", &["risk.max_open", "bot.toml"][..]),
        ("[risk]\nmax_drawdown_percent = 200.0", &["risk.max_drawdown_percent"]),
        ("[risk]\nmax_trades_per_hour = 5", &["risk.max_trades_per_hour", "from 0 to 5", "Restart"]),
        ("[runtime]\nhold_ms = 5", &["runtime.hold_ms", "1000 -> 5", "restart"]),
        ("[account]\nmoney_scale = 3\n[risk]\nmax_open_trades = 1", &["account.money_scale", "2 -> 3"]),
        ("[risk]\ndaily_loss_limit = 5", &["risk.daily_loss_limit"]),
        (second.as_str(), &["bots.second", "restart"]),
    ] {
        write(&folder, settings);
        let refused = Folder::new().run(&["reload", "--journal", &journal]);
        refused.fails(2, &[&["the bot rejected the command: "], parts].concat());
        assert_eq!(runs_with(&folder, "reload").len(), 0, "{settings}");
        assert_eq!(status(&folder)["bot"]["phase"], "trading");
    }
    write(&folder, "");
    let unchanged = folder.run(&RELOAD).json();
    assert_eq!(unchanged["reloaded"]["changes"], json!([]), "{unchanged}");
    // Opening a pipe would block until another process writes.
    std::fs::remove_file(folder.path("bot.toml")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path("bot.toml")).status().unwrap().success());
    let refused = Folder::new().run(&["reload", "--journal", &journal]);
    refused.fails(2, &["the bot rejected the command: ", "bot.toml"]);
    assert_eq!(bot.end(), Some(130));
}

#[test]
fn parity_replays_a_session_with_a_reload_in_its_middle_and_its_restart() {
    let (_served, folder) = venue_and_bot("");
    // The file of a journal exists before its tables.
    let is_readable = || folder.run(&["trades", "--json", "--config", "bot.toml"]).code == 0;
    let opens = || runs_with(&folder, "\"action\":\"open\"").len();
    let is_refused_in = |run| runs_with(&folder, "\"rule\":\"MaxTradesPerDay\"").contains(&run);
    let is_reloaded = std::cell::Cell::new(false);
    run_until(&folder, &LIVE, || {
        if !is_reloaded.get() && is_readable() && opens() > 0 {
            let limited = consecutive_runs::BOT.replace("[risk]", "[risk]\nmax_trades_per_day = 1");
            std::fs::write(folder.path("bot.toml"), limited).unwrap();
            let answer = folder.run(&RELOAD).json();
            assert_eq!(answer["reloaded"]["changes"], json!(["risk.max_trades_per_day 200 -> 1"]));
            is_reloaded.set(true);
        }
        is_reloaded.get() && is_refused_in(1)
    });
    assert!(is_reloaded.get() && is_refused_in(1));
    let parity = || folder.run(&["parity", "--journal", "candlewick.db", "--json"]).json();
    let proven = parity();
    assert_eq!(proven["decisions"]["difference"], Value::Null, "{proven}");
    let known = status(&folder);
    assert_eq!((&known["reloaded"]["by"], &known["bot"]), (&json!("command"), &Value::Null));
    let before = opens();
    let again = run_until(&folder, &LIVE, || is_refused_in(2));
    assert_eq!(opens(), before, "{}", again.stderr);
    let proven = parity();
    assert_eq!((&proven["decisions"]["difference"], &proven["runs"]), (&Value::Null, &json!(2)), "{proven}");
    assert_eq!(status(&folder)["reloaded"], Value::Null);
    check_notes_are_needed(&folder);
}

fn check_notes_are_needed(folder: &Folder) {
    let is_note = |line: &Line| line.body.contains("\"reloaded\":");
    let lines = || recording::lines(&folder.path("candlewick.db")).into_iter().map(|stored| stored.line);
    let spoil = |mut line: Line| {
        if is_note(&line) {
            line.body = line.body.replacen("\"max_trades_per_day\":1", "\"max_trades_per_day\":[]", 1);
        }
        line
    };
    recording::write(&folder.path("spoilt.db"), lines().map(spoil));
    recording::write(&folder.path("gone.db"), lines().filter(|line| !is_note(line)));
    for journal in ["spoilt.db", "gone.db"] {
        let proven = folder.run(&["parity", "--journal", journal]);
        assert_eq!(proven.code, 5, "{journal}: {}{}", proven.stdout, proven.stderr);
    }
    // The settings in force are unknown then; those at the start must not be used.
    recording::write(&folder.path("first.db"), lines().take_while(|line| line.run < 2).map(spoil));
    folder.run(&["status", "--journal", "first.db"]).fails(3, &["entry"]);
    folder.run(&["report", "--run", "1", "--journal", "spoilt.db"]).fails(3, &["entry"]);
}
