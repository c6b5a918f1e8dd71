//! `walk-forward plan`, `run` and `merge`: shards that ran elsewhere merge to the files of one walk.

use crate::candlewick::Folder;
use crate::searched::{elsewhere, folder, run_shard};
use crate::walk_forward::{FILES, walk};
use serde_json::{Value, json};

/// Plans a walk.
fn plan(folder: &Folder, more: &[&str]) -> Value {
    let mut arguments = walk(more);
    arguments.insert(1, "plan");
    folder.run(&arguments).json()
}

/// Runs a shard elsewhere, twice. Returns the number of its trials.
fn run_elsewhere(here: &Folder, shard: u64) -> u64 {
    let [ran, again] = run_shard(here, &elsewhere(here, "walk-forward"), ("walk-forward", shard));
    assert_eq!((&again["resumed"], &again["trials"]), (&ran["trials"], &ran["trials"]));
    ran["trials"].as_u64().unwrap()
}

#[test]
fn shards_of_all_windows_on_several_machines_merge_to_the_files_of_one_walk() {
    for (more, shards, sets) in [
        (&["--anchored"][..], 10, 32),
        (
            &["--search", "random", "--trials", "20", "--halving", "2", "--rungs", "2", "--embargo", "1h"],
            10,
            20,
        ),
        // A search that learns has a shard for each window, however many are requested.
        (&["--search", "tpe", "--trials", "24"], 5, 24),
    ] {
        let (whole, here) = (folder(3), folder(3));
        let alone = whole.run(&walk(more)).json();
        let planned = plan(&here, &[more, &["--shards", "7"]].concat());
        let counts = ["windows", "shards", "sets"].map(|key| planned[key].as_u64().unwrap());
        assert_eq!(counts, [5, shards, sets], "{more:?}");
        let mut trials = 0;
        for shard in (1..=shards).rev() {
            here.run_line("walk-forward merge").fails(2, &["walk-forward run --shard 1"]);
            trials += run_elsewhere(&here, shard);
        }
        assert_eq!(trials, 5 * sets, "{more:?}");
        let merged = here.run_line("walk-forward merge --json").json();
        for name in FILES {
            let [here, whole] = [&here, &whole].map(|folder| folder.read(&format!("walk-forward/{name}")));
            assert!(here == whole, "{more:?}: {name} differs");
        }
        assert_eq!(merged["windows"], alone["windows"]);
        assert_eq!(merged["out_of_sample"], alone["out_of_sample"]);
    }
}

#[test]
fn shards_that_do_not_fit_the_plan_of_their_walk_are_refused() {
    let here = folder(2);
    let run = "walk-forward run --shard";
    here.run_line(&format!("{run} 1")).fails(2, &["walk-forward plan"]);
    assert_eq!(plan(&here, &["--shards", "1"])["shards"], json!(5));
    here.run_line(&format!("{run} 6")).fails(2, &["shard 6 of 5"]);
    let of_walk = "sweep run --shard 1 --plan walk-forward/plan.json";
    here.run_line(of_walk).fails(2, &["walk-forward run"]);
    run_elsewhere(&here, 1);
    let journal = here.read("walk-forward/shard-1.jsonl");
    let here = here.with("walk-forward/shard-2.jsonl", &journal);
    here.run_line("walk-forward merge").fails(2, &["another sweep", "differs in"]);
    let half: String = journal.split_inclusive('\n').take(9).collect();
    let here = here.with("walk-forward/shard-1.jsonl", &half);
    here.run_line("walk-forward merge").fails(2, &["walk-forward run --shard 1"]);
    assert!(!here.path("walk-forward/windows.csv").exists(), "half a walk has no files");
    let there = elsewhere(&here, "walk-forward");
    let candles = there.read("candles/BTCUSDT_1m.csv");
    let fewer: String = candles.split_inclusive('\n').take(2_000).collect();
    let there = there.with("candles/BTCUSDT_1m.csv", &fewer);
    let run = "walk-forward run --plan plan.json --data candles/BTCUSDT_1m.csv --shard 1";
    there.run_line(run).fails(3, &["BTCUSDT@1m"]);
}

#[test]
fn a_hold_out_is_opened_by_the_merge() {
    let (whole, here) = (folder(2), folder(2));
    let alone = whole.run(&walk(&["--open-hold-out"])).json();
    plan(&here, &["--shards", "5"]);
    for shard in 1..=5 {
        run_elsewhere(&here, shard);
    }
    let merged = here.run_line("walk-forward merge --json --open-hold-out").json();
    assert_eq!(merged["hold_out"]["openings"], 1);
    assert_eq!(merged["hold_out"]["opened"]["chosen"], alone["hold_out"]["opened"]["chosen"]);
    assert_eq!(merged["windows"], alone["windows"]);
}
