//! Sweeps that are killed, or whose disk fills up, come to the files of one that went through.
#![cfg(unix)]

use crate::candlewick::{BINARY, Folder};
use crate::searched::folder;
use crate::sweep::{assert_same, journalled, plan, step, sweep};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// The signal to a process whose file grows beyond its limit.
const SIGXFSZ: i32 = 25;

/// Kills a sweep at each of `moments`, lines of the journal `whole` of one that went through; then lets it run to its end. What
/// that prints, and the rungs on which it was killed.
///
/// A process whose file would grow beyond its limit is killed by the system in the middle of that write, however fast
/// the machine is. Limits are blocks of 512 bytes, two or three lines.
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
        let mut command = folder.command_of("/bin/sh", &limited);
        // Read candles are kept for the next run, in a file of more than the limit: not here.
        let output = command.env("XDG_CACHE_HOME", "/dev/null").output().unwrap();
        assert_eq!(output.status.signal(), Some(SIGXFSZ), "kill {kill}: {output:?}");
        let results = folder.path(journal).with_file_name("results.csv");
        assert!(!results.exists(), "kill {kill} came too late");
        let kept = journalled(folder, journal);
        assert!(kept.len() > before, "kill {kill}: nothing was done since the one before");
        before = kept.len();
        let last: Value = serde_json::from_str(&kept[before - 1]).unwrap();
        rungs.extend(last["rung"].as_u64());
    }
    let ended = folder.run(&arguments).json();
    assert_eq!(ended["resumed"], json!(before - 1), "every whole line is a trial that need not run again");
    (ended, rungs)
}

#[test]
fn a_sweep_that_is_killed_ten_times_ends_with_the_same_files() {
    let folder = folder(5);
    let way = ["--search", "tpe", "--trials", "112", "--seed", "3"];
    let whole = folder.run(&[sweep(&way), vec!["--out", "whole", "--threads", "1"]].concat()).json();
    assert_eq!((&whole["trials"], &whole["resumed"]), (&json!(112), &json!(0)));
    let mut chance = 11_u64; // the seed of the moments
    let mut moment = 0;
    let moments = [(); 10].map(|()| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        moment += 1 + (chance >> 33) as usize % 8;
        moment
    });
    let arguments = [sweep(&way), vec!["--out", "killed"]].concat();
    let lines = journalled(&folder, "whole/trials.jsonl");
    let (resumed, _) = killed(&folder, &arguments, "killed/trials.jsonl", (&lines, &moments));
    assert_same(&folder.path("whole"), &folder.path("killed"), "after ten kills");
    assert_eq!((&resumed["best"], &resumed["luck"]), (&whole["best"], &whole["luck"]));
}

#[test]
fn a_halving_that_is_killed_on_each_rung_ends_with_the_same_files() {
    let folder = folder(5);
    let way = ["--search", "random", "--trials", "80", "--objective", "expectancy", "--halving", "2"];
    let whole = folder.run(&[sweep(&way), vec!["--out", "whole", "--threads", "1"]].concat()).json();
    // The first line, then 80 trials on a quarter of the candles, 40 on half and 20 on all.
    let lines = journalled(&folder, "whole/trials.jsonl");
    assert_eq!(lines.len(), 1 + 80 + 40 + 20);
    let arguments = [sweep(&way), vec!["--out", "killed"]].concat();
    let (resumed, rungs) = killed(&folder, &arguments, "killed/trials.jsonl", (&lines, &[30, 84, 100, 123]));
    assert_eq!(rungs, BTreeSet::from([0, 1, 2]), "the rungs on which it was killed");
    assert_same(&folder.path("whole"), &folder.path("killed"), "a halving after four kills");
    assert_eq!((&resumed["best"], &resumed["luck"]), (&whole["best"], &whole["luck"]));
}

#[test]
fn a_shard_that_is_killed_merges_to_the_files_of_one_sweep() {
    let folder = folder(5);
    let way = ["--search", "random", "--trials", "60"];
    let whole = folder.run(&[sweep(&way), vec!["--out", "whole"]].concat()).json();
    folder.run(&plan(&[&way[..], &["--shards", "2"]].concat())).json();
    let lines = journalled(&folder, "whole/trials.jsonl");
    let (first, second) = (["run", "--shard", "1"], ["run", "--shard", "2"]);
    let (resumed, _) = killed(&folder, &step(&first, &[]), "sweep/shard-1.jsonl", (&lines, &[2, 7, 12]));
    assert_eq!(resumed["trials"], json!(30));
    folder.run(&step(&second, &[])).json();
    let merged = folder.run(&step(&["merge"], &[])).json();
    assert_eq!((&merged["best"], &merged["luck"]), (&whole["best"], &whole["luck"]));
    assert_same(&folder.path("whole"), &folder.path("sweep"), "a shard after three kills");
}

#[test]
fn a_sweep_whose_disk_is_full_keeps_whole_lines_and_goes_on_from_them() {
    let folder = folder(1);
    let way = sweep(&["--search", "random", "--trials", "40", "--threads", "2"]);
    // Files that may not grow beyond 8 KiB: as on a full disk, the last line that fits is written in part.
    let limited = ["-c", "trap '' XFSZ && ulimit -f 16 && exec \"$0\" \"$@\"", BINARY];
    let arguments = [&limited, &way[..]].concat();
    folder.run_of(Path::new("/bin/sh"), &arguments).fails(2, &["trials.jsonl", "File too large"]);
    let text = folder.read("sweep/trials.jsonl");
    assert!(text.len() < 8_192 && text.ends_with("}\n"), "{text}");
    let kept = journalled(&folder, "sweep/trials.jsonl").len();
    assert!((2..40).contains(&kept), "{text}");
    assert_eq!(folder.run(&way).json()["resumed"], json!(kept - 1));
    folder.run(&[&way[..], &["--out", "whole"]].concat()).json();
    assert_same(&folder.path("whole"), &folder.path("sweep"), "after the disk was full");
}

/// Stops a sweep when so many trials have run.
fn stop(folder: &Folder, arguments: &[&str], signal: &str, trials: usize) {
    let arguments = [arguments, &["--threads", "1", "--quiet"]].concat();
    let mut command = folder.command(&arguments);
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while journalled(folder, "sweep/trials.jsonl").len() <= trials {
        assert!(process.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(1));
    }
    let sent =
        std::process::Command::new("kill").args([format!("-{signal}"), process.id().to_string()]).status();
    assert!(sent.unwrap().success());
    process.wait().unwrap();
}

#[test]
fn what_a_sweep_tried_that_was_stopped_counts_and_once_when_it_goes_on() {
    let backtest = ["backtest", "--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];
    let variants = |folder: &Folder| {
        let report = folder.run(&backtest).json();
        let number = |key: &str| report["variants"][key].as_u64().unwrap();
        (number("count"), number("under_way"))
    };
    let whole = folder(5);
    let sets = whole.run(&sweep(&[])).json()["trials"].as_u64().unwrap();
    let (expected, none) = variants(&whole);
    assert_eq!(none, 0);
    let killed = folder(5);
    stop(&killed, &sweep(&[]), "KILL", 4);
    // All that it set out to try, and the backtest.
    assert_eq!(variants(&killed), (sets + 1, sets));
    let interrupted = folder(5);
    stop(&interrupted, &sweep(&[]), "INT", 4);
    let ran = journalled(&interrupted, "sweep/trials.jsonl").len() as u64 - 1;
    let (count, under_way) = variants(&interrupted);
    assert!(under_way == 0 && (3..=ran + 1).contains(&count), "{count} after {ran} trials");
    for folder in [killed, interrupted] {
        folder.run(&sweep(&[])).json();
        assert_eq!(variants(&folder), (expected, 0));
    }
}

#[test]
fn a_search_with_which_the_ledger_begins_says_so_and_so_does_one_without_a_ledger() {
    let notices = |folder: &Folder| {
        let arguments = sweep(&["--search", "random", "--trials", "8"]);
        folder.run(&arguments).json()["notices"].to_string()
    };
    let begins = "the ledger of variants begins with this search";
    let folder = folder(2);
    assert!(notices(&folder).contains(begins) && notices(&folder).contains(begins), "the same sweep again");
    let walk =
        ["walk-forward", "--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--min-trades", "10"];
    let walk = [&walk[..], &["--param", "period=2..5"]].concat();
    let walked = |folder: &Folder| folder.run(&walk).json()["variants_notices"].to_string();
    assert_eq!(walked(&folder), "[]");
    let new = crate::searched::folder(2);
    assert!(walked(&new).contains(begins));
    assert!(!notices(&new).contains(begins));
    let emptied = new.with("candlewick.variants.jsonl", "");
    assert!(
        notices(&emptied)
            .contains("variants unknown: candlewick.variants.jsonl: the file is missing or empty")
    );
    let off = emptied.with_variable("CANDLEWICK_VARIANTS__LEDGER", "");
    assert!(notices(&off).contains("variants unknown: they are not counted"));
    assert!(walked(&off).contains("variants unknown: they are not counted"));
}
