//! Shards of sweeps, in one round or in several of a search that learns: they merge to the files of one sweep.

use crate::candlewick::Folder;
use crate::searched::{elsewhere, folder, run_shard};
use crate::sweep::{assert_same, plan, step, sweep};
use serde_json::json;

#[test]
fn shards_on_several_machines_merge_to_the_files_of_one() {
    const ROUNDS: [[u64; 3]; 4] = [[3, 1, 2], [4, 6, 5], [9, 8, 7], [11, 10, 12]];
    for (terms, rounds) in [
        (&["--search", "random", "--trials", "40", "--halving", "2"][..], &ROUNDS[..1]),
        (&["--search", "tpe", "--trials", "40", "--batch", "12"], &ROUNDS),
    ] {
        let (whole, here) = (folder(2), folder(2));
        let alone = whole.run(&sweep(terms)).json();
        let planned = here.run(&plan(&[terms, &["--shards", "3"]].concat())).json();
        assert_eq!((&planned["sets"], &planned["shards"]), (&json!(40), &json!(3 * rounds.len())));
        let mut trials = 0;
        for (before, shards) in (0..).step_by(3).zip(rounds) {
            let missing = format!("shard {} is missing", before + 1);
            here.run(&step(&["merge"], &[])).fails(2, &[&missing, "sweep run --shard"]);
            for shard in shards {
                // Another machine has no configuration, other variables, and the earlier journals.
                let there = elsewhere(&here, "sweep");
                let there = there.with_variable("CANDLEWICK_SIMULATION__PAYOUT_PERCENT", "99");
                for journal in (1..=before).map(|shard| format!("shard-{shard}.jsonl")) {
                    std::fs::copy(here.path(&format!("sweep/{journal}")), there.path(&journal)).unwrap();
                }
                let [ran, again] = run_shard(&here, &there, ("sweep", *shard));
                assert_eq!((&again["resumed"], &again["trials"]), (&ran["trials"], &ran["trials"]));
                trials += ran["trials"].as_u64().unwrap();
            }
        }
        assert_eq!(trials, 40);
        let merged = here.run(&step(&["merge"], &[])).json();
        assert_eq!((&merged["best"], &merged["luck"]), (&alone["best"], &alone["luck"]));
        assert_same(&whole.path("sweep"), &here.path("sweep"), &format!("{terms:?}"));
    }
}

#[test]
fn a_plan_of_synthetic_candles_and_built_in_bots_needs_the_program_only() {
    let search = "--bot btc-rsi --param period=5..8 --json";
    let [whole, here, there] = [(); 3].map(|()| Folder::new());
    whole.run_line(&format!("sweep {search}")).json();
    here.run_line(&format!("sweep plan --shards 1 {search}")).json();
    std::fs::copy(here.path("sweep/plan.json"), there.path("plan.json")).unwrap();
    for step in ["run --shard 1", "merge"] {
        there.run_line(&format!("sweep {step} --json --plan plan.json --out mine")).json();
    }
    assert_same(&whole.path("sweep"), &there.path("mine"), "synthetic");
}

#[test]
fn shards_that_do_not_fit_their_plan_are_refused() {
    let here = folder(1);
    let few = ["--search", "random", "--trials", "12", "--shards", "2"];
    let [first, second] = ["1", "2"].map(|shard| step(&["run", "--shard", shard], &[]));
    here.run(&first).fails(2, &["sweep plan"]);
    here.run(&plan(&few)).json();
    here.run(&step(&["run", "--shard", "3"], &[])).fails(2, &["shard 3 of 2"]);
    here.run(&step(&["run", "--shard", "1", "--config", "bot.toml"], &[])).fails(2, &["configuration"]);
    for run in [&first, &second] {
        assert_eq!(here.run(run).json()["trials"], json!(6));
    }
    let journal = "sweep/shard-1.jsonl";
    let cut: String = here.read(journal).split_inclusive('\n').take(3).collect();
    let here = here.with(journal, &cut);
    here.run(&step(&["merge"], &[])).fails(2, &["4 trials of shard 1", "sweep run --shard 1"]);
    let other = here.read("sweep/shard-2.jsonl");
    let here = here.with(journal, &other);
    here.run(&step(&["merge"], &[])).fails(2, &["differs in: shard"]);
    let candles = here.read("BTCUSDT_1m.csv");
    let (fewer, _) = candles.trim_end().rsplit_once('\n').unwrap();
    let here = here.with("BTCUSDT_1m.csv", &format!("{fewer}\n"));
    let count = candles.lines().count() - 1;
    let counts = [count, count - 1].map(|count| format!("{count} candles"));
    here.run(&second).fails(3, &["BTCUSDT@1m", &counts[0], &counts[1], "--data"]);
    here.with("sweep/plan.json", "{\"sets\": 3}").run(&second).fails(2, &["format"]);
}

#[test]
fn a_shard_of_a_later_round_needs_every_shard_before_as_it_was() {
    let here = folder(2);
    here.run(&plan(&["--search", "tpe", "--trials", "24", "--batch", "12", "--shards", "2"])).json();
    let run = |shard: &str| here.run(&step(&["run", "--shard", shard], &[]));
    run("1").json();
    run("4").fails(2, &["shard 4", "shards 1 to 2", "shard 2 is missing"]);
    for shard in ["2", "3", "4"] {
        run(shard).json();
    }
    let journal = here.path("sweep/shard-2.jsonl");
    let sound = std::fs::read_to_string(&journal).unwrap();
    let unfinished: String = sound.split_inclusive('\n').take(4).collect();
    std::fs::write(&journal, unfinished).unwrap();
    run("4").fails(2, &["3 trials of shard 2"]);
    // With other results in the first round, the second round is that of another search.
    let changed = sound.replacen("\"won\":", "\"won\":1", 1);
    assert_ne!(changed, sound);
    std::fs::write(&journal, changed).unwrap();
    run("3").fails(2, &["differs in: after"]);
    here.run(&step(&["merge"], &[])).fails(2, &["differs in: after"]);
    std::fs::write(&journal, sound).unwrap();
    here.run(&step(&["merge"], &[])).json();
}

#[test]
fn a_shard_whose_previous_round_is_still_written_is_refused_for_now() {
    let here = folder(1);
    here.run(&plan(&["--search", "tpe", "--trials", "8", "--batch", "4", "--shards", "1"])).json();
    here.run(&step(&["run", "--shard", "1"], &[])).json();
    let late = std::fs::File::open(here.path("sweep/shard-1.jsonl")).unwrap();
    late.lock().unwrap();
    here.run(&step(&["run", "--shard", "2"], &[])).fails(7, &["shard-1.jsonl"]);
    late.unlock().unwrap();
    here.run(&step(&["run", "--shard", "2"], &[])).json();
}

#[test]
fn a_search_that_ends_before_its_last_round_merges() {
    let search = "--json --min-trades 10 --config bot.toml --data BTCUSDT_1m.csv --search tpe --trials 40 \
                  --batch 8 --param period=5..14";
    let (whole, here) = (folder(2), folder(2));
    assert_eq!(whole.run_line(&format!("sweep {search}")).json()["trials"], json!(10));
    here.run_line(&format!("sweep plan --shards 1 {search}")).json();
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
    here.run(&plan(&["--search", "tpe", "--shards", "17"])).fails(2, &["16", "--batch"]);
    here.run(&plan(&["--search", "random", "--batch", "4"])).fails(2, &["batches"]);
    here.run(&sweep(&["--search", "tpe", "--batch", "0"])).fails(2, &["--batch"]);
}
