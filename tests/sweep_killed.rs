//! Sweeps that are killed, stopped or out of disk space resume to the files of an undisturbed sweep.
#![cfg(unix)]

use crate::candlewick::{BINARY, Folder, Run};
use crate::serving::send;
use crate::sweep::{RESULTS, assert_same, folder, journalled, sweep};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Signal for exceeding the file size limit.
const SIGXFSZ: i32 = 25;

pub(crate) fn stop_when(
    folder: &Folder,
    arguments: &[&str],
    signal: &str,
    is_time: impl Fn() -> bool,
) -> Run {
    let mut command = folder.command(arguments);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !is_time() {
        assert!(process.try_wait().unwrap().is_none(), "{arguments:?} ended before it was killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    send(signal, &process);
    Run::from_output(&process.wait_with_output().unwrap())
}

/// Kills a sweep at `moments` (lines of the undisturbed journal `whole`), lets it finish, and returns its document and
/// the rungs of the kills. The file size limit, in blocks of 512 bytes (two or three lines), kills it during a write.
fn killed(
    folder: &Folder,
    arguments: &[&str],
    journal: &str,
    (whole, moments): (&[String], &[usize]),
) -> (Value, BTreeSet<u64>) {
    let arguments = [arguments, &["--threads", "2", "--quiet"]].concat();
    let size = || std::fs::metadata(folder.path(journal)).map_or(0, |file| file.len() as usize);
    let (mut before, mut rungs) = (0, BTreeSet::new());
    for (kill, moment) in moments.iter().enumerate() {
        let bytes: usize = whole[..*moment].iter().map(String::len).sum();
        let blocks = bytes.max(size()) / 512 + 1;
        let script = format!("ulimit -c 0; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let limited = [&["-c", &script, BINARY], &arguments[..]].concat();
        let mut command = folder.program_command("/bin/sh", &limited);
        // The candle cache is a file beyond the limit.
        let output = command.env("XDG_CACHE_HOME", "/dev/null").output().unwrap();
        assert_eq!(output.status.signal(), Some(SIGXFSZ), "kill {kill}: {output:?}");
        let results = folder.path(journal).with_file_name("results.csv");
        assert!(!results.exists(), "kill {kill} came too late");
        let kept = journalled(folder, journal);
        assert!(kept.len() > before, "kill {kill}: no progress since the previous one");
        before = kept.len();
        let last: Value = serde_json::from_str(&kept[before - 1]).unwrap();
        rungs.extend(last["rung"].as_u64());
    }
    let ended = folder.run(&arguments).json();
    assert_eq!(ended["resumed"], json!(before - 1), "trials of complete lines must not run again");
    (ended, rungs)
}

#[test]
fn repeatedly_killed_sweep_ends_with_the_same_files() {
    let tpe = ["--search", "tpe", "--trials", "112", "--seed", "3"];
    let halving = ["--search", "random", "--trials", "80", "--objective", "expectancy", "--halving", "2"];
    // Halving runs 80 trials on a quarter of the candles, 40 on half and 20 on all.
    for (way, trials, moments, expected) in [
        (&tpe[..], 112, &[1, 5, 13, 14, 21, 25, 27, 30, 35, 39][..], &[] as &[u64]),
        (&halving, 80 + 40 + 20, &[30, 84, 100, 123], &[0, 1, 2]),
    ] {
        let folder = folder(5);
        let whole = folder.run(&[sweep(way), vec!["--out", "whole", "--threads", "1"]].concat()).json();
        let lines = journalled(&folder, "whole/trials.jsonl");
        assert_eq!((lines.len(), &whole["resumed"]), (1 + trials, &json!(0)));
        let arguments = [sweep(way), vec!["--out", "killed"]].concat();
        let (resumed, rungs) = killed(&folder, &arguments, "killed/trials.jsonl", (&lines, moments));
        assert!(expected.iter().all(|rung| rungs.contains(rung)), "killed on the rungs {rungs:?}");
        assert_same(&folder.path("whole"), &folder.path("killed"), &RESULTS);
        assert_eq!((&resumed["best"], &resumed["luck"]), (&whole["best"], &whole["luck"]));
    }
}

#[test]
fn sweep_on_a_full_disk_keeps_complete_lines_and_resumes_from_them() {
    let folder = folder(1);
    let way = sweep(&["--search", "random", "--trials", "40", "--threads", "2"]);
    // Files may not exceed 8 KiB: as on a full disk, the last line that fits is written in part.
    let limited = ["-c", "trap '' XFSZ && ulimit -f 16 && exec \"$0\" \"$@\"", BINARY];
    let arguments = [&limited, &way[..]].concat();
    folder.run_program(Path::new("/bin/sh"), &arguments).fails(2, &["trials.jsonl", "File too large"]);
    let text = folder.read("sweep/trials.jsonl");
    assert!(text.len() < 8_192 && text.ends_with("}\n"), "{text}");
    let kept = journalled(&folder, "sweep/trials.jsonl").len();
    assert!((2..40).contains(&kept), "{text}");
    assert_eq!(folder.run(&way).json()["resumed"], json!(kept - 1));
    folder.run(&[&way[..], &["--out", "whole"]].concat()).json();
    assert_same(&folder.path("whole"), &folder.path("sweep"), &RESULTS);
}

#[test]
fn stopped_sweep_resumes_to_the_same_files() {
    let journal = "sweep/trials.jsonl";
    // Two weeks take long enough for the signal to arrive in time on a busy machine.
    let whole = folder(14);
    whole.run(&sweep(&[])).json();
    for (signal, code) in [("KILL", -1), ("INT", 130), ("TERM", 0)] {
        let folder = folder(14);
        let arguments = sweep(&["--threads", "1"]);
        let stopped = stop_when(&folder, &arguments, signal, || journalled(&folder, journal).len() > 4);
        assert_eq!((stopped.code, &*stopped.stdout), (code, ""), "{signal}: {}", stopped.stderr);
        assert!(!folder.path("sweep/results.csv").exists());
        let ran = journalled(&folder, journal).len() - 1;
        assert_eq!(folder.run(&arguments).json()["resumed"], json!(ran));
        assert_same(&whole.path("sweep"), &folder.path("sweep"), &RESULTS);
    }
}
