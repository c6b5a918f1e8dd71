//! New settings for a bot that trades: by command, through its journal, by SIGHUP, refused, and proven afterwards.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder};
use crate::control::{Live, venue_and_folder};
use crate::recording;
use crate::two_runs::{self, run_until, venue_and_bot};
use candlewick_journal::Line;
use serde_json::{Value, json};
use std::os::unix::net::UnixListener;
use std::process::Command;

const CONFIG: [&str; 2] = ["--config", "bot.toml"];

/// What the settings of `bot.toml` become.
fn write(folder: &Folder, settings: &str) {
    std::fs::write(folder.path("bot.toml"), format!("{settings}\n{BOT}")).unwrap();
}

fn reloaded(folder: &Folder) -> Value {
    folder.run(&["status", "--json", "--config", "bot.toml"]).json()["reloaded"].clone()
}

/// How much there may be of a limit, as `status` says.
fn most(folder: &Folder, limit: &str) -> Value {
    let limits = folder.run(&["status", "--json", "--config", "bot.toml"]).json()["limits"].clone();
    let limits = limits.as_array().cloned().unwrap_or_default();
    limits.into_iter().find(|line| line["name"] == limit).map_or(Value::Null, |line| line["most"].clone())
}

/// How many lines of the journal hold this.
fn count(folder: &Folder, journal: &str, what: &str) -> usize {
    let lines = recording::lines(&folder.path(journal));
    lines.iter().filter(|stored| stored.line.body.contains(what)).count()
}

#[test]
fn without_a_bot_nothing_is_reloaded_and_no_order_is_left() {
    let folder = Folder::new();
    folder.run(&["reload"]).fails(2, &["nothing to reload: no bot runs", "candlewick.db.sock", "--journal"]);
    recording::write(&folder.path("candlewick.db"), []);
    folder.run(&["reload"]).fails(2, &["nothing to reload: no bot runs on"]);
    let resumed = folder.run(&["resume"]);
    resumed.fails(2, &["nothing to resume"]);
}

#[test]
fn a_bot_is_given_new_limits_by_command_by_its_journal_and_by_signal_and_keeps_its_halt() {
    let (_served, folder) = venue_and_folder();
    let bot = Live::start(&folder);
    folder.run(&["halt", "--config", "bot.toml", "--reason", "news"]);
    assert_eq!(reloaded(&folder), Value::Null);
    write(&folder, "[risk]\nmax_open_trades = 2");
    let answer = folder.run(&["reload", "--json", "--config", "bot.toml"]).json();
    assert_eq!(answer["reloaded"]["changes"], json!(["risk.max_open_trades 3 -> 2"]));
    let state = &answer["state"];
    assert_eq!((&state["phase"], &state["reason"]), (&json!("halted"), &json!("news")));
    // It is answered at once, and on the disk a moment later.
    let known = (0..2_000).map(|_| reloaded(&folder)).find(|known| !known.is_null());
    let known = known.expect("it is kept");
    assert_eq!((&known["by"], &known), (&json!("command"), &answer["reloaded"]));

    // Whoever listens in its place answers nothing: the order goes through the journal, from anywhere, once.
    write(&folder, "[risk]\nmax_open_trades = 2\ndaily_loss_limit = 70");
    let socket = folder.path("candlewick.db.sock");
    std::fs::rename(&socket, folder.path("away.sock")).unwrap();
    let silent = UnixListener::bind(&socket).unwrap();
    let journal = folder.path("candlewick.db").to_string_lossy().into_owned();
    let answer = Folder::new().run(&["reload", "--json", "--journal", &journal]).json();
    assert_eq!(answer["reloaded"]["changes"], json!(["risk.daily_loss_limit 100 -> 70"]));
    assert_eq!(
        (most(&folder, "daily_loss_limit"), most(&folder, "max_open_trades")),
        (json!(70.0), json!(2.0))
    );
    assert_eq!(count(&folder, "candlewick.db", "\"control\":\"reload\""), 2);
    drop(silent);
    std::fs::rename(folder.path("away.sock"), &socket).unwrap();

    write(&folder, "[risk]\nmax_open_trades = 2\ndaily_loss_limit = 80\n[runtime]\nstop_patience_s = 1");
    assert!(Command::new("kill").args(["-s", "HUP", &bot.id()]).status().unwrap().success());
    let by_signal = (0..2_000).map(|_| reloaded(&folder)).find(|known| known["by"] == "signal");
    let changes = json!(["risk.daily_loss_limit 70 -> 80", "runtime.stop_patience_s 30 -> 1"]);
    assert_eq!(by_signal.expect("the signal is heard")["changes"], changes);
    let status = folder.run(&["status", "--config", "bot.toml"]);
    for part in ["read again ", "by SIGHUP:", "risk.daily_loss_limit 70 -> 80"] {
        assert!(status.stdout.contains(part), "no {part:?} in {}", status.stdout);
    }
    assert_eq!(bot.end(), Some(130));
    assert_eq!(most(&folder, "daily_loss_limit"), json!(80.0), "without a bot, too");
}

#[test]
fn what_is_wrong_or_cannot_change_is_refused_by_name_and_nothing_changes() {
    let (_served, folder) = venue_and_folder();
    let bot = Live::start(&folder);
    let journal = folder.path("candlewick.db").to_string_lossy().into_owned();
    for (settings, parts) in [
        ("[risk]\nmax_open = 1", &["risk.max_open", "bot.toml", "there is no such key"][..]),
        (
            "[risk]\nmax_drawdown_percent = 200.0",
            &["risk.max_drawdown_percent", "not a percent from 0 to 100"],
        ),
        ("[risk]\nmax_trades_per_hour = 5", &["risk.max_trades_per_hour", "0 cannot become 5", "restart"]),
        ("[risk]\nday_start = \"01:00\"", &["risk.day_start", "\"00:00\" -> \"01:00\"", "restart the bot"]),
        ("[runtime]\nhold_ms = 5", &["runtime.hold_ms", "1000 -> 5", "restart the bot"]),
        // As a start refuses it.
        ("[risk]\nmax_stake = 5", &["is 10.00", "risk.max_stake, is 5.00", "no trade could ever be opened"]),
        (
            "[risk]\nmin_stake = 60",
            &["is 10.00", "risk.min_stake, is 60.00", "no trade could ever be opened"],
        ),
        ("[risk]\ndaily_loss_limit = 5", &["risk.daily_loss_limit", "no trade could ever be opened"]),
        ("[account]\nmoney_scale = 3\n[risk]\nmax_open_trades = 1", &["account.money_scale", "2 -> 3"]),
        (
            "[[bots]]\nname = \"second\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"rsi-reversal\"\nclose_type = \"01:00\"",
            &["bots.second", "(not set) ->", "restart the bot"],
        ),
    ] {
        write(&folder, settings);
        let refused = Folder::new().run(&["reload", "--journal", &journal]);
        refused.fails(2, &[&["the bot refused: "], parts].concat());
        assert_eq!(count(&folder, "candlewick.db", "reload"), 0, "{settings}");
        assert_eq!(
            folder.run(&["status", "--json", "--journal", "candlewick.db"]).json()["bot"]["phase"],
            "trading"
        );
    }
    // The same words as `config check` has.
    write(&folder, "[risk]\nmax_drawdown_percent = 200.0");
    let checked = folder.run(&["config", "check", "--config", "bot.toml"]).stderr;
    let told = folder.run(&["reload", "--config", "bot.toml"]).stderr;
    let line = |text: &str| {
        text[text.find("risk.max_drawdown_percent").unwrap()..].lines().next().unwrap().to_owned()
    };
    assert_eq!(line(&told), line(&checked));
    write(&folder, "");
    let answer = folder.run(&["reload", "--config", "bot.toml"]);
    assert!(answer.stdout.contains("nothing has changed"), "{}{}", answer.stdout, answer.stderr);
    assert_eq!(bot.end(), Some(130));
}

/// Whoever opens a pipe waits until somebody writes: nothing of the run does.
#[test]
fn a_pipe_in_place_of_the_configuration_is_refused_and_the_run_ends_as_ever() {
    let (_served, folder) = venue_and_folder();
    let bot = Live::start(&folder);
    let journal = folder.path("candlewick.db").to_string_lossy().into_owned();
    let config = folder.path("bot.toml");
    std::fs::remove_file(&config).unwrap();
    assert!(Command::new("mkfifo").arg(&config).status().unwrap().success());
    let refused = Folder::new().run(&["reload", "--journal", &journal]);
    refused.fails(2, &["the bot refused: ", "bot.toml", "no regular file"]);
    assert_eq!(bot.end(), Some(130));
}

/// A trade opens under the first limits, a signal is refused under the second, and after a restart they hold from its start.
#[test]
fn a_session_with_a_reload_in_its_middle_is_proven_by_parity_and_goes_on_after_a_restart() {
    let (_served, folder) = venue_and_bot("");
    // A journal's file is there before its tables are.
    let is_readable = || folder.run(&["trades", "--json", CONFIG[0], CONFIG[1]]).code == 0;
    let open = || is_readable() && count(&folder, "candlewick.db", "\"action\":\"open\"") > 0;
    let refused = || count(&folder, "candlewick.db", "\"rule\":\"MaxTradesPerDay\"") > 0;
    let is_reloaded = std::cell::Cell::new(false);
    let run = run_until(&folder, &["live", CONFIG[0], CONFIG[1]], || {
        if !is_reloaded.get() {
            if open() {
                let limited = two_runs::BOT.replace("[risk]", "[risk]\nmax_trades_per_day = 1");
                std::fs::write(folder.path("bot.toml"), limited).unwrap();
                let answer = folder.run(&["reload", "--json", CONFIG[0], CONFIG[1]]).json();
                assert_eq!(answer["reloaded"]["changes"], json!(["risk.max_trades_per_day 200 -> 1"]));
                is_reloaded.set(true);
            }
            return false;
        }
        refused()
    });
    assert!(is_reloaded.get() && refused(), "{}{}", run.stdout, run.stderr);
    let parity = || folder.run(&["parity", "--journal", "candlewick.db", "--json"]).json();
    let proven = parity();
    assert_eq!(proven["decisions"]["difference"], Value::Null, "{proven}");
    let opened = count(&folder, "candlewick.db", "\"action\":\"open\"");
    let known = folder.run(&["status", "--json", CONFIG[0], CONFIG[1]]).json();
    assert_eq!((&known["reloaded"]["by"], &known["bot"]), (&json!("command"), &Value::Null));

    let again = run_until(&folder, &["live", CONFIG[0], CONFIG[1]], || {
        count(&folder, "candlewick.db", "\"rule\":\"MaxTradesPerDay\"") > 0
            && recording::lines(&folder.path("candlewick.db")).iter().any(|stored| {
                stored.line.run == 2 && stored.line.body.contains("\"rule\":\"MaxTradesPerDay\"")
            })
    });
    assert_eq!(count(&folder, "candlewick.db", "\"action\":\"open\""), opened, "{}", again.stderr);
    let proven = parity();
    assert_eq!((&proven["decisions"]["difference"], &proven["runs"]), (&Value::Null, &json!(2)), "{proven}");
    assert_eq!(folder.run(&["status", "--json", CONFIG[0], CONFIG[1]]).json()["reloaded"], Value::Null);
    check_notes_are_needed(&folder);
}

/// A journal whose settings that were read again cannot be read, or are gone, proves nothing.
fn check_notes_are_needed(folder: &Folder) {
    let is_note = |line: &Line| line.body.contains("\"reloaded\":");
    let lines = || recording::lines(&folder.path("candlewick.db")).into_iter().map(|stored| stored.line);
    let spoil = |line: Line| {
        let body = if is_note(&line) {
            line.body.replacen("\"max_trades_per_day\":1", "\"max_trades_per_day\":[]", 1)
        } else {
            line.body
        };
        Line { body, ..line }
    };
    recording::write(&folder.path("spoilt.db"), lines().map(spoil));
    recording::write(&folder.path("gone.db"), lines().filter(|line| !is_note(line)));
    for (journal, expected) in
        [("spoilt.db", "read again cannot be replayed: "), ("gone.db", "the journal does not say which")]
    {
        let proven = folder.run(&["parity", "--journal", journal]);
        assert!(proven.code == 5 && proven.stderr.contains(expected), "{journal}: {}", proven.stderr);
    }
    // What is in force is not known then, and nobody says that it is what the run began with.
    let of_first_run = lines().take_while(|line| line.run < 2).map(spoil);
    recording::write(&folder.path("first.db"), of_first_run);
    folder.run(&["status", "--journal", "first.db"]).fails(3, &["entry", "cannot be read"]);
    folder.run(&["report", "--run", "1", "--journal", "spoilt.db"]).fails(3, &["entry", "cannot be read"]);
}
