//! Copies of journals, and files that are written whole or not at all.
#![cfg(unix)]

use crate::candlewick::{BACKTEST, BINARY, Folder, candles, folder_with_bot};
use crate::recording::{folder, record_in_lock_step};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// The signal of a process that writes more to a file than it may.
const SIGXFSZ: i32 = 25;

#[test]
fn a_copy_of_a_journal_reads_like_it() {
    let folder = folder();
    record_in_lock_step(&folder);
    let copied = folder.run(&["journal", "backup", "copy.db", "--journal", "run.db", "--json"]).json();
    let verified = folder.run(&["journal", "verify", "--journal", "copy.db", "--json"]).json();
    for key in ["entries", "head_hash"] {
        assert_eq!(copied[key], verified[key], "{key}");
    }
    for command in ["trades", "report"] {
        let of = |journal: &str| folder.run(&[command, "--journal", journal, "--json"]).json();
        assert_eq!(of("copy.db"), of("run.db"), "{command}");
    }
    assert_eq!(folder.run(&["parity", "--journal", "copy.db", "--json"]).json()["ok"], true);
    let mode = |name: &str| std::fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("run.db"), mode("copy.db")), (0o600, 0o600));
    folder
        .run(&["journal", "backup", "copy.db", "--journal", "run.db"])
        .fails(2, &["copy.db exists already"]);
    let server = "postgres://127.0.0.1:1/trading";
    folder.run(&["journal", "backup", "more.db", "--journal", server]).fails(2, &["pg_dump"]);
    assert!(!folder.path("more.db").exists());
}

/// The names in a folder, in their order.
fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path("")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Each is killed, by the system, as soon as it has written so much to one file.
#[test]
fn a_program_that_dies_amid_a_file_leaves_the_old_one() {
    let folder = folder_with_bot("period = 2", "period = 2").with("BTCUSDT_1m.csv", &candles(3_000));
    for (flag, name) in [("--trades", "trades.csv"), ("--html", "page.html"), ("--journal", "run.jsonl")] {
        let arguments = [&BACKTEST[..], &[flag, name]].concat();
        let is_new = flag == "--journal";
        if !is_new {
            std::fs::write(folder.path(name), "old").unwrap();
        }
        let before = names(&folder);
        let command = format!("ulimit -f 4; exec {BINARY} {}", arguments.join(" "));
        let status = Command::new("sh").args(["-c", &command]).current_dir(folder.path("")).status().unwrap();
        assert_eq!(status.signal(), Some(SIGXFSZ), "{flag}: {status}");
        let after: Vec<String> =
            names(&folder).into_iter().filter(|name| !name.ends_with(".partial")).collect();
        assert_eq!(after, before, "{flag}");
        assert!(is_new || folder.read(name) == "old", "{flag}");
        let run = folder.run(&arguments);
        assert!(run.code == 0 && folder.read(name).len() > 2_048, "{flag}: {}", run.stderr);
    }
}
