//! Journal files: edited ones are refused, and files are written atomically.
#![cfg(unix)]

use crate::candlewick::{BACKTEST, BINARY, Folder, candles, folder_with_bot};
use crate::consecutive_runs::{judged, run_until, venue_and_bot};
use crate::recording::{edit, folder, forge, record_in_lock_step};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// Signal for exceeding the file size limit.
const SIGXFSZ: i32 = 25;

fn shell(folder: &Folder, line: &str) -> Command {
    let mut command = folder.program_command("sh", &["-c", line]);
    // A cached copy of the candles would exceed the limit.
    command.env("XDG_CACHE_HOME", "/dev/null");
    command
}

#[test]
fn crash_while_writing_leaves_the_old_file() {
    let folder = folder_with_bot("period = 2", "period = 2").with("BTCUSDT_1m.csv", &candles(3_000));
    assert_eq!(folder.run(&BACKTEST).code, 0, "the first run creates the folder of the state");
    for (flag, name) in [("--trades", "trades.csv"), ("--html", "page.html"), ("--journal", "run.jsonl")] {
        let arguments = [&BACKTEST[..], &[flag, name]].concat();
        let is_new = flag == "--journal";
        if !is_new {
            std::fs::write(folder.path(name), "old").unwrap();
        }
        let mut before = folder.names();
        before.retain(|name| !name.ends_with(".partial"));
        let command = format!("ulimit -f 4; exec {BINARY} {}", arguments.join(" "));
        let status = shell(&folder, &command).status().unwrap();
        assert_eq!(status.signal(), Some(SIGXFSZ), "{flag}: {status}");
        let mut after = folder.names();
        after.retain(|name| !name.ends_with(".partial"));
        assert_eq!(after, before, "{flag}");
        assert!(is_new || folder.read(name) == "old", "{flag}");
        let run = folder.run(&arguments);
        assert!(run.code == 0 && folder.read(name).len() > 2_048, "{flag}: {}", run.stderr);
    }
}

#[test]
fn failed_export_changes_neither_trades_nor_run_facts() {
    let folder = folder_with_bot("period = 2", "period = 2").with("BTCUSDT_1m.csv", &candles(3_000));
    let arguments = [&BACKTEST[..], &["--trades", "trades.csv"]].concat();
    let command = format!("trap '' XFSZ; ulimit -f 4; exec {BINARY} {}", arguments.join(" "));
    for is_there in [false, true] {
        if is_there {
            std::fs::write(folder.path("trades.csv"), "old").unwrap();
            std::fs::write(folder.path("trades.csv.run.json"), "old").unwrap();
        }
        let ended = shell(&folder, &command).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        let mut left = folder.names();
        left.retain(|name| name.starts_with("trades"));
        if is_there {
            assert_eq!(left, ["trades.csv", "trades.csv.run.json"]);
            assert_eq!((folder.read(&left[0]), folder.read(&left[1])), ("old".to_owned(), "old".to_owned()));
        } else {
            assert_eq!(left, [""; 0]);
        }
    }
    assert_eq!(folder.run(&arguments).code, 0);
    assert!(folder.read("trades.csv.run.json").starts_with('{') && folder.read("trades.csv").len() > 2_048);
}

const EDITS: [&str; 4] = [
    "UPDATE entries SET body = replace(body, '\"profit\":-1000', '\"profit\":-9000') WHERE seq = \
      (SELECT MIN(seq) FROM entries WHERE body LIKE '%\"profit\":-1000%')",
    "UPDATE entries SET body = replace(body, '\"trading\":\"sandbox\"', '\"trading\":\"demo\"') WHERE kind = 'run'",
    "UPDATE entries SET received = received + 1 WHERE seq = 40",
    "DELETE FROM entries WHERE seq = (SELECT MIN(seq) FROM entries WHERE body LIKE '%\"outcome\":\"LOST\"%')",
];

#[test]
fn every_command_refuses_an_edited_journal() {
    let folder = folder();
    record_in_lock_step(&folder);
    for (place, sql) in EDITS.into_iter().enumerate() {
        let journal = format!("edited-{place}.db");
        std::fs::copy(folder.path("run.db"), folder.path(&journal)).unwrap();
        edit(&folder.path(&journal), sql);
        let verified = folder.run(&["journal", "verify", "--journal", &journal]);
        let broken = verified.stderr.split(" is broken at ").nth(1).unwrap_or_default();
        let entry = broken.split(':').next().unwrap_or_default();
        assert!(entry.starts_with("entry "), "{sql}: {}", verified.stderr);
        for command in [
            "journal verify",
            "status",
            "trades",
            "trades --csv",
            "report",
            "report --html page.html",
            "explain 1",
            "why 2026-01-06T03:00:00Z",
            "edge verdict",
            "parity",
            "journal backup copy.db",
        ] {
            let run = folder.run_line(&format!("{command} --journal {journal}"));
            assert!(run.code == 5 && run.stderr.contains(entry), "{command}: {sql}: {}", run.stderr);
            assert!(command == "parity" || run.stdout.is_empty(), "{command}: {}", run.stdout);
        }
        for file in ["page.html", "copy.db"] {
            assert!(!folder.path(file).exists(), "{file} after {sql}");
        }
    }
    check_edited_answer(&folder);
    check_forged(&folder);
}

fn check_edited_answer(folder: &Folder) {
    std::fs::copy(folder.path("run.db"), folder.path("wires.db")).unwrap();
    let sound = folder.query("journal verify", "wires.db");
    assert!(sound["raw_exchanges"].as_u64() > Some(100) && sound["raw_exchanges_outside"] == 0, "{sound}");
    let sql = "UPDATE wires SET response = replace(response, '\"amount\"', '\"Amount\"') WHERE id = \
               (SELECT MIN(id) FROM wires WHERE intent = 5 AND response LIKE '%\"amount\"%')";
    edit(&folder.path("wires.db"), sql);
    for command in ["explain 5", "journal verify", "parity"] {
        let run = folder.run_line(&format!("{command} --journal wires.db"));
        assert!(run.code == 5 && run.stderr.contains("raw exchange "), "{command:?}: {}", run.stderr);
    }
    assert_eq!(folder.run_line("explain 4 --journal wires.db").code, 0);
}

/// Only the verification record next to the journal reveals a forgery with a recomputed chain.
fn check_forged(folder: &Folder) {
    forge(&folder.path("run.db"), EDITS[0]);
    let status = || folder.run(&["status", "--journal", "run.db"]);
    status().fails(5, &["run.db.verified"]);
    std::fs::rename(folder.path("run.db.verified"), folder.path("away")).unwrap();
    assert_eq!(status().code, 0, "a valid chain without verification record is accepted");
}

#[test]
fn no_run_continues_an_edited_journal() {
    let (_served, folder) = venue_and_bot("");
    let live = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--quiet"];
    run_until(&folder, &live, || judged(&folder, "run.db") > 0);
    let later = [&live[..], &["--for", "1s"]].concat();
    let header = "UPDATE entries SET body = replace(body, '\"trading\":\"demo\"', '\"trading\":\"real\"') WHERE seq = 1";
    let settled = "UPDATE entries SET body = replace(body, '\"profit\":', '\"profit\":9') WHERE seq = \
                   (SELECT MIN(seq) FROM entries WHERE body LIKE '%\"event\":\"settled\"%')";
    let restore = || {
        for name in ["run.db-wal", "run.db-shm"] {
            drop(std::fs::remove_file(folder.path(name)));
        }
        std::fs::copy(folder.path("kept.db"), folder.path("run.db")).unwrap();
    };
    assert_eq!(folder.run(&["journal", "backup", "kept.db", "--journal", "run.db"]).code, 0);
    for (sql, entry) in [(header, "entry 1:"), (settled, "entry ")] {
        restore();
        edit(&folder.path("run.db"), sql);
        folder.run(&later).fails(5, &[entry]);
    }
    restore();
    assert_eq!(folder.run(&later).code, 0);
}
