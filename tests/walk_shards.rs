//! `walk-forward plan`, `run` and `merge`: parts of a walk that ran elsewhere come to the files of one that ran here.

use crate::candlewick::Folder;
use crate::searched::folder;
use crate::walk_forward::{FILES, walk};
use serde_json::{Value, json};

/// The plan of a walk, with the arguments of one.
fn plan(folder: &Folder, more: &[&str]) -> Value {
    let mut arguments = walk(more);
    arguments.insert(1, "plan");
    folder.run(&arguments).json()
}

/// A step of the plan in the folder `walk-forward`.
fn step<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["walk-forward"], more, &["--json"]].concat()
}

/// A folder of another machine, which has the plan, and candles in a place of its own.
fn elsewhere(here: &Folder) -> Folder {
    let there = Folder::new();
    std::fs::copy(here.path("walk-forward/plan.json"), there.path("plan.json")).unwrap();
    std::fs::create_dir(there.path("candles")).unwrap();
    std::fs::copy(here.path("BTCUSDT_1m.csv"), there.path("candles/BTCUSDT_1m.csv")).unwrap();
    there
}

const ELSEWHERE: [&str; 6] = ["--plan", "plan.json", "--data", "candles/BTCUSDT_1m.csv", "--threads", "1"];

/// Runs a shard on a machine of its own, twice, and brings its journal here; what it printed.
fn run_elsewhere(here: &Folder, shard: u64) -> Value {
    let there = elsewhere(here);
    let (number, journal) = (shard.to_string(), format!("shard-{shard}.jsonl"));
    let run = step(&[&["run", "--shard", &number], &ELSEWHERE[..]].concat());
    let ran = there.run(&run).json();
    let first = there.read(&journal);
    let again = there.run(&run).json();
    assert_eq!((&again["resumed"], &again["trials"]), (&ran["trials"], &ran["trials"]));
    assert_eq!(there.read(&journal), first, "twice is once");
    std::fs::write(here.path(&format!("walk-forward/{journal}")), first).unwrap();
    ran
}

#[test]
fn shards_of_all_windows_on_several_machines_merge_to_the_files_of_one_walk() {
    let ways: [(&[&str], [u64; 2]); 3] = [
        (&["--anchored"], [10, 32]),
        (&["--search", "random", "--trials", "20", "--halving", "2"], [10, 20]),
        // A search that learns is a shard of its window, however many are asked for.
        (&["--search", "tpe", "--trials", "24"], [5, 24]),
    ];
    for (more, [shards, sets]) in ways {
        let whole = folder(3);
        let alone = whole.run(&walk(more)).json();
        let here = folder(3);
        let planned = plan(&here, &[more, &["--shards", "7"]].concat());
        assert_eq!(
            (&planned["windows"], &planned["shards"], &planned["sets"]),
            (&json!(5), &json!(shards), &json!(sets)),
            "{more:?}"
        );
        let mut trials = 0;
        // Late ones first: their order is nobody's concern.
        for shard in (1..=shards).rev() {
            here.run(&step(&["merge"])).fails(2, &["shard 1 is missing", "walk-forward run --shard 1"]);
            trials += run_elsewhere(&here, shard)["trials"].as_u64().unwrap();
        }
        assert_eq!(trials, 5 * sets, "{more:?}");
        let merged = here.run(&step(&["merge"])).json();
        for name in FILES {
            let of = |folder: &Folder| folder.read(&format!("walk-forward/{name}"));
            assert!(of(&here) == of(&whole), "{more:?}: {name} differs");
        }
        assert_eq!(merged["windows"], alone["windows"]);
        assert_eq!(merged["out_of_sample"], alone["out_of_sample"]);
    }
}

#[test]
fn a_shard_that_does_not_fit_the_plan_of_its_walk_is_refused_with_a_way_out() {
    let here = folder(2);
    here.run(&step(&["run", "--shard", "1"])).fails(2, &["there is no plan", "walk-forward plan"]);
    assert_eq!(plan(&here, &["--shards", "1"])["shards"], json!(5));
    here.run(&step(&["run", "--shard", "6"])).fails(2, &["there is no shard 6 of 5"]);
    here.run(&["sweep", "run", "--shard", "1", "--plan", "walk-forward/plan.json"])
        .fails(2, &["it is not the plan of a sweep: walk-forward made it", "walk-forward run"]);
    // A shard of one window is none of another, and half a shard is none.
    run_elsewhere(&here, 1);
    let journal = here.read("walk-forward/shard-1.jsonl");
    std::fs::write(here.path("walk-forward/shard-2.jsonl"), &journal).unwrap();
    here.run(&step(&["merge"])).fails(2, &["another sweep", "differs in"]);
    let half: String = journal.split_inclusive('\n').take(9).collect();
    std::fs::write(here.path("walk-forward/shard-1.jsonl"), half).unwrap();
    here.run(&step(&["merge"])).fails(2, &["trials of shard 1 have not run", "walk-forward run --shard 1"]);
    assert!(!here.path("walk-forward/windows.csv").exists(), "nothing is written of half a walk");
    // Candles that are not the plan's are named.
    let there = elsewhere(&here);
    let candles = there.read("candles/BTCUSDT_1m.csv");
    let fewer: String = candles.split_inclusive('\n').take(2_000).collect();
    std::fs::write(there.path("candles/BTCUSDT_1m.csv"), fewer).unwrap();
    there
        .run(&step(&[&["run", "--shard", "1"], &ELSEWHERE[..]].concat()))
        .fails(3, &["the candles of BTCUSDT@1m are not those of the plan"]);
}

#[test]
fn a_hold_out_is_opened_where_the_shards_are_merged() {
    let whole = folder(2);
    let alone = whole.run(&walk(&["--open-hold-out"])).json();
    let here = folder(2);
    plan(&here, &["--shards", "5"]);
    for shard in 1..=5 {
        run_elsewhere(&here, shard);
    }
    let merged = here.run(&step(&["merge", "--open-hold-out"])).json();
    assert_eq!(merged["hold_out"]["openings"], 1);
    assert_eq!(merged["hold_out"]["opened"]["chosen"], alone["hold_out"]["opened"]["chosen"]);
    assert_eq!(merged["windows"], alone["windows"]);
}
