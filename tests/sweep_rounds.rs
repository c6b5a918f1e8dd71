//! A sweep that learns, in rounds of shards: parts that ran elsewhere come to the files of one machine, and a part that ran after other results is none.

use crate::candlewick::Folder;
use crate::searched::folder;
use crate::sweep::{assert_same, elsewhere, plan, step, sweep};
use serde_json::json;

const TPE: [&str; 6] = ["--search", "tpe", "--trials", "40", "--batch", "12"];
const ROUNDS: [[u64; 3]; 4] = [[3, 1, 2], [4, 6, 5], [9, 8, 7], [11, 10, 12]];
const DATA: [&str; 6] = ["--plan", "plan.json", "--data", "BTCUSDT_1m.csv", "--threads", "1"];

/// Runs a shard where there are the plan, the candles, and the journals of the shards before this one.
fn there_with(here: &Folder, before: u64) -> Folder {
    let there = elsewhere(here);
    std::fs::copy(here.path("BTCUSDT_1m.csv"), there.path("BTCUSDT_1m.csv")).unwrap();
    for shard in 1..=before {
        let journal = format!("shard-{shard}.jsonl");
        std::fs::copy(here.path(&format!("sweep/{journal}")), there.path(&journal)).unwrap();
    }
    there
}

#[test]
fn rounds_of_shards_on_several_machines_merge_to_the_files_of_one() {
    let whole = folder(2);
    let alone = whole.run(&sweep(&TPE)).json();
    let here = folder(2);
    let planned = here.run(&plan(&[&TPE[..], &["--shards", "3"]].concat())).json();
    let expected = [json!(40), json!(12), json!(4)];
    assert_eq!([&planned["sets"], &planned["shards"], &planned["rounds"]], expected.each_ref());
    let mut trials = 0;
    for (round, shards) in (0..).zip(ROUNDS) {
        for shard in shards {
            let there = there_with(&here, round * 3);
            let (number, journal) = (shard.to_string(), format!("shard-{shard}.jsonl"));
            let run = step(&["run", "--shard", &number], &DATA);
            let ran = there.run(&run).json();
            let first = there.read(&journal);
            let again = there.run(&run).json();
            assert_eq!((&again["resumed"], &again["trials"]), (&ran["trials"], &ran["trials"]));
            assert_eq!(there.read(&journal), first, "twice is once");
            std::fs::write(here.path(&format!("sweep/{journal}")), first).unwrap();
            trials += ran["trials"].as_u64().unwrap();
        }
        if round < 3 {
            let next = format!("shard {} is missing", (round + 1) * 3 + 1);
            here.run(&step(&["merge"], &[])).fails(2, &[&next, "sweep run --shard"]);
        }
    }
    assert_eq!(trials, 40);
    let merged = here.run(&step(&["merge"], &[])).json();
    assert_eq!((&merged["best"], &merged["luck"]), (&alone["best"], &alone["luck"]));
    assert_same(&whole.path("sweep"), &here.path("sweep"), "tpe");
}

#[test]
fn a_shard_of_a_later_round_needs_every_shard_before_as_it_was() {
    let here = folder(2);
    here.run(&plan(&["--search", "tpe", "--trials", "24", "--batch", "12", "--shards", "2"])).json();
    let run = |shard: &str| here.run(&step(&["run", "--shard", shard], &[]));
    run("1").json();
    run("4").fails(2, &["shard 4 needs what came of shards 1 to 2", "shard 2 is missing", "run them first"]);
    run("2").json();
    run("3").json();
    run("4").json();
    let sound = here.read("sweep/shard-2.jsonl");
    // A shard that was stopped has not run.
    let cut: Vec<&str> = sound.lines().take(4).collect();
    std::fs::write(here.path("sweep/shard-2.jsonl"), cut.join("\n") + "\n").unwrap();
    run("4").fails(2, &["3 trials of shard 2 have not run"]);
    // Other results before: what followed from the first ones no longer follows.
    let mut lines: Vec<String> = sound.lines().map(str::to_owned).collect();
    assert!(lines[1].contains("\"won\":"));
    lines[1] = lines[1].replacen("\"won\":", "\"won\":1", 1);
    std::fs::write(here.path("sweep/shard-2.jsonl"), lines.join("\n") + "\n").unwrap();
    for command in [step(&["run", "--shard", "3"], &[]), step(&["merge"], &[])] {
        here.run(&command).fails(2, &["another sweep, which differs in: after"]);
    }
    std::fs::write(here.path("sweep/shard-2.jsonl"), sound).unwrap();
    here.run(&step(&["merge"], &[])).json();
}

#[test]
fn a_shard_whose_round_before_is_still_written_is_refused_for_now_and_not_for_good() {
    let here = folder(1);
    here.run(&plan(&["--search", "tpe", "--trials", "8", "--batch", "4", "--shards", "1"])).json();
    here.run(&step(&["run", "--shard", "1"], &[])).json();
    let late = std::fs::File::open(here.path("sweep/shard-1.jsonl")).unwrap();
    late.lock().unwrap();
    here.run(&step(&["run", "--shard", "2"], &[]))
        .fails(7, &["shard-1.jsonl", "another sweep is writing it"]);
    late.unlock().unwrap();
    here.run(&step(&["run", "--shard", "2"], &[])).json();
}

#[test]
fn a_search_that_ends_before_its_last_round_is_whole_all_the_same() {
    let few = ["--search", "tpe", "--trials", "40", "--batch", "8", "--param", "period=5..14"];
    let arguments = |first: &[&'static str]| {
        let own = ["--json", "--min-trades", "10", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];
        [first, &own[..], &few[..]].concat()
    };
    let (whole, here) = (folder(2), folder(2));
    assert_eq!(whole.run(&arguments(&["sweep"])).json()["trials"], json!(10));
    here.run(&arguments(&["sweep", "plan", "--shards", "1"])).json();
    for (shard, trials) in [("1", 8), ("2", 2), ("3", 0)] {
        assert_eq!(here.run(&step(&["run", "--shard", shard], &[])).json()["trials"], json!(trials));
    }
    // Shards 4 and 5 have nothing to run.
    here.run(&step(&["merge"], &[])).json();
    assert_same(&whole.path("sweep"), &here.path("sweep"), "few sets");
}

#[test]
fn batches_and_shards_that_no_search_has_are_refused() {
    let here = folder(1);
    here.run(&plan(&["--search", "tpe", "--shards", "17"])).fails(2, &["tries 16 sets at a time", "--batch"]);
    here.run(&plan(&["--search", "random", "--batch", "4"]))
        .fails(2, &["only a search that learns has batches"]);
    here.run(&sweep(&["--search", "tpe", "--batch", "0"])).fails(2, &["--batch"]);
}
