//! Kills right before and after each snapshot line: the next start resumes from the written lines.

use crate::prelude::*;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

const FOLDER: &str = "SNAPSHOTS_FOLDER";
const SIGKILL: i32 = 9;
/// The verification is recorded at each check of the clock: the next start trusts the last durable snapshot.
const MINUTES: Duration = Duration::from_mins(2);

fn run_to_die(folder: &Folder, point: &str) -> ExitStatus {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "killed::run_to_be_killed", "--quiet"]);
    command.env(FOLDER, folder.path("")).env("JOURNAL_KILL_POINT", point);
    command.stdout(Stdio::null()).status().unwrap()
}

#[tokio::test]
async fn run_to_be_killed() {
    let Some(path) = std::env::var_os(FOLDER) else { return };
    let mut folder = Folder::at(Path::new(&path));
    folder.pace = MINUTES;
    folder.run(false).await;
}

#[tokio::test]
async fn resumes_after_a_kill_at_each_snapshot_line() {
    let (mut killed, mut short, mut most) = (0, 0, (0, 0));
    for (side, count) in (1..).flat_map(|count| [("before", count), ("after", count)]) {
        let mut folder = Folder::new();
        folder.pace = MINUTES;
        let point = format!("{side} snapshot {count}");
        let status = run_to_die(&folder, &point);
        if status.success() {
            break;
        }
        assert_eq!(status.signal(), Some(SIGKILL), "{point}: {status}");
        killed += 1;
        let (kept, whole_ones) = folder.snapshots().await;
        assert_eq!(kept, count - usize::from(side == "before"), "{point}");
        most = most.max((kept as u64 - whole_ones, whole_ones));
        let (whole, from_snapshot) = (folder.read_whole().await, folder.read().await.unwrap());
        assert_eq!(state(&from_snapshot), state(&whole), "{point}");
        assert_eq!(from_snapshot.notice(), None, "{point}");
        let is_short = from_snapshot.lines_read() < whole.lines_read();
        assert!(is_short || whole_ones < 2, "{point}");
        short += u32::from(is_short);
        folder.run(false).await;
        folder.check().await;
        assert_eq!(state(&folder.read().await.unwrap()), state(&folder.read_whole().await), "{point}");
    }
    let (parts, whole_ones) = most;
    assert!(
        killed >= 12 && short >= 8 && parts >= 3 && whole_ones >= 3,
        "{killed} times, {parts} parts, {whole_ones} whole ones"
    );
}
