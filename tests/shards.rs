//! Plans, shards and their merge on several machines: in files, and by address.
//! `file://` uses the code path of `s3://`, which `.ci/storage` runs on a server.

use crate::candlewick::Folder;
use crate::sweep::{RESULTS, assert_same, folder, plan, step};
use crate::walk_forward::{FILES, walk};
use serde_json::json;
use std::fs;

const SWEEP: &str = "--min-trades 10 --param period=2..9 --param oversold=10..45:5";
const WALK: &str =
    "--min-trades 10 --param period=2..5 --param oversold=10..40:10 --param close_type=01:00,03:00";
const PATHS: &[&str] = &["paths.csv", "monte-carlo.json"];

const SEARCHES: [(&str, &str, &str, &[&str]); 8] = [
    ("sweep", SWEEP, "--search random --trials 40 --halving 2", &RESULTS),
    ("sweep", SWEEP, "--search tpe --trials 40 --batch 12", &RESULTS),
    ("walk-forward", WALK, "--anchored", &FILES),
    ("walk-forward", WALK, "--search random --trials 20 --halving 2 --rungs 2 --embargo 1h", &FILES),
    ("walk-forward", WALK, "--search tpe --trials 24", &FILES),
    ("monte-carlo", "--paths 14 --seed 3", "--resample candles", PATHS),
    ("monte-carlo", "--paths 14 --seed 3", "--resample trades", PATHS),
    ("sensitivity", "", "", &["points.csv", "sensitivity.json"]),
];

/// Runs a shard twice in a folder with the plan and the earlier shards, and copies its journal back.
fn run_elsewhere(here: &Folder, command: &str, shard: u64) -> u64 {
    let there = Folder::new();
    fs::copy(here.path("BTCUSDT_1m.csv"), there.path("prices.csv")).unwrap();
    for name in (1..shard).map(|shard| format!("shard-{shard}.jsonl")).chain(["plan.json".to_owned()]) {
        drop(fs::copy(here.path(&format!("{command}/{name}")), there.path(&name)));
    }
    // Another machine has no configuration, other variables, and its candles elsewhere.
    let there = there.with_variable("CANDLEWICK_SIMULATION__PAYOUT_PERCENT", "99");
    let line = format!("{command} run --json --plan plan.json --data BTCUSDT@1m=prices.csv --threads 1");
    let (line, journal) = (format!("{line} --shard {shard}"), format!("shard-{shard}.jsonl"));
    let ran = there.run_line(&line).json();
    let first = there.read(&journal);
    there.run_line(&line).json();
    assert_eq!(there.read(&journal), first, "a shard runs once");
    fs::write(here.path(&format!("{command}/{journal}")), first).unwrap();
    ran["trials"].as_u64().unwrap_or_default()
}

#[test]
fn shards_on_several_machines_merge_to_the_files_of_one() {
    for (command, common, own, files) in SEARCHES {
        let (whole, here) = (folder(3), folder(3));
        let terms = format!("--json --config bot.toml --data BTCUSDT_1m.csv {common} {own}");
        whole.run_line(&format!("{command} {terms}")).json();
        // Two shards for each window of a walk with a non-adaptive search.
        let shards = if command == "walk-forward" { 7 } else { 3 };
        let planned = here.run_line(&format!("{command} plan --shards {shards} {terms}")).json();
        let merge = || here.run_line(&format!("{command} merge --json"));
        let (mut trials, shards) = (0, planned["shards"].as_u64().unwrap());
        let shards: Vec<u64> = (1..=shards).collect();
        // A round of an adaptive search has three shards.
        for shard in shards.chunks(3).flat_map(|round| round.iter().rev()) {
            merge().fails(2, &["is missing", &format!("{command} run --shard")]);
            trials += run_elsewhere(&here, command, *shard);
        }
        if let ("sweep" | "walk-forward", Some(sets)) = (command, planned["sets"].as_u64()) {
            assert_eq!(trials, sets * planned["windows"].as_u64().unwrap_or(1), "{command} {own}");
        }
        merge().json();
        assert_same(&whole.path(command), &here.path(command), files);
        if !own.contains("tpe") {
            let journal = format!("{command}/shard-1.jsonl");
            let half: String = here.read(&journal).split_inclusive('\n').take(3).collect();
            fs::write(here.path(&journal), half).unwrap();
            merge().fails(2, &[&format!("{command} run --shard 1")]);
            fs::copy(here.path(&format!("{command}/shard-2.jsonl")), here.path(&journal)).unwrap();
            merge().fails(2, &["another"]);
        }
        if command != "sweep" {
            let other = format!("sweep run --shard 1 --plan {command}/plan.json");
            here.run_line(&other).fails(2, &[command]);
        }
    }
}

fn address(there: &Folder, name: &str) -> String {
    format!("file://{}", there.path(name).display())
}

#[test]
fn shards_by_address_merge_to_the_files_of_one_machine() {
    for (command, common, own, files) in SEARCHES {
        let (there, whole) = (Folder::new(), folder(3));
        fs::create_dir(there.path("candles")).unwrap();
        let [candles, out, plan] = ["candles/BTCUSDT_1m.csv", command, &format!("{command}/plan.json")]
            .map(|name| address(&there, name));
        let export = format!("data export BTCUSDT_1m.csv --json --out {candles}");
        whole.run_line(&export).json();
        whole.run_line(&export).fails(2, &["--force"]);
        assert_eq!(there.read("candles/BTCUSDT_1m.csv"), whole.read("BTCUSDT_1m.csv"));
        let terms = format!("--json --config bot.toml {common} {own}");
        whole.run_line(&format!("{command} --data BTCUSDT_1m.csv {terms}")).json();
        let planned = format!("{command} plan --shards 3 --data {candles} --out {out} {terms}");
        let planned = whole.run_line(&planned).json();
        assert_eq!(planned["file"], json!(plan));
        let merge = format!("{command} merge --json --plan {plan}");
        Folder::new().run_line(&merge).fails(2, &[&format!("{command} run --shard")]);
        for shard in 1..=planned["shards"].as_u64().unwrap() {
            let run = format!("{command} run --json --plan {plan} --shard {shard}");
            Folder::new().run_line(&run).json();
            let journal = there.path(&format!("{command}/shard-{shard}.jsonl"));
            let state = || (fs::read(&journal).unwrap(), journal.metadata().unwrap().modified().unwrap());
            let first = state();
            Folder::new().run_line(&run).json();
            assert!(state() == first, "{command}: shard {shard} is written twice");
        }
        Folder::new().run_line(&merge).json();
        assert_same(&whole.path(command), &there.path(command), files);
    }
}

#[test]
fn refuses_missing_and_foreign_objects_and_names_their_address() {
    let (there, here) = (Folder::new(), folder(1));
    let [plan, candles, out, shard] = ["sweep/plan.json", "BTCUSDT_1m.csv", "sweep", "sweep/shard-1.jsonl"]
        .map(|name| address(&there, name));
    let run = format!("sweep run --json --shard 1 --plan {plan}");
    let backtest = "backtest --config bot.toml";
    for (line, code, part) in [
        (run.clone(), 2, &*plan),
        (format!("{backtest} --data {candles}"), 3, &candles),
        (format!("{backtest} --data BTCUSDT@1m=gs://bucket/x.csv"), 2, "gs://bucket/x.csv"),
        (format!("{backtest} --catalog s3://bucket/data"), 2, "data export"),
    ] {
        here.run_line(&line).fails(code, &[part]);
    }
    // A shard of another plan is kept.
    let planned = format!("sweep plan --json --config bot.toml --data BTCUSDT_1m.csv --shards 1 --out {out}");
    here.run_line(&format!("{planned} --param period=3..5")).json();
    here.run_line(&run).json();
    here.run_line(&format!("{planned} --param period=3..6")).json();
    here.run_line(&run).fails(2, &[&shard, "--out"]);
}

#[test]
fn refuses_an_unencrypted_endpoint_without_revealing_secrets() {
    for (endpoint, hint) in [
        ("http://192.0.2.1:9000", "AWS_ALLOW_HTTP=true"),
        ("https://user:password@192.0.2.1", "AWS_ACCESS_KEY_ID"),
    ] {
        let here = Folder::new()
            .with_variable("AWS_ACCESS_KEY_ID", "key-of-a-test")
            .with_variable("AWS_SECRET_ACCESS_KEY", "secret-of-a-test")
            .with_variable("AWS_ENDPOINT_URL", endpoint);
        let ended = here.run_line("sweep run --shard 1 --plan s3://bucket/plan.json");
        let shown = &ended.stderr;
        assert!(!shown.contains("secret-of-a-test") && !shown.contains("password@"), "{shown}");
        ended.fails(2, &["AWS_ENDPOINT_URL", hint]);
    }
}

#[test]
fn plan_of_synthetic_candles_and_built_in_bots_needs_only_the_program() {
    let search = "--bot btc-rsi --param period=5..8 --json";
    let [whole, here, there] = [(); 3].map(|()| Folder::new());
    whole.run_line(&format!("sweep {search}")).json();
    here.run_line(&format!("sweep plan --shards 1 {search}")).json();
    fs::copy(here.path("sweep/plan.json"), there.path("plan.json")).unwrap();
    for step in ["run --shard 1", "merge"] {
        there.run_line(&format!("sweep {step} --json --plan plan.json --out mine")).json();
    }
    assert_same(&whole.path("sweep"), &there.path("mine"), &RESULTS);
}

#[test]
fn refuses_shards_that_do_not_fit_their_plan() {
    let here = folder(1);
    let run = |shard: &str, more: &[&str]| here.run(&step(&["run", "--shard", shard], more));
    run("1", &[]).fails(2, &["sweep plan"]);
    here.run(&plan(&["--search", "tpe", "--shards", "17"])).fails(2, &["16", "--batch"]);
    here.run(&plan(&["--search", "random", "--trials", "12", "--shards", "2"])).json();
    run("3", &[]).fails(2, &["shard 3 of 2"]);
    run("1", &["--config", "bot.toml"]).fails(2, &["configuration"]);
    for shard in ["1", "2"] {
        assert_eq!(run(shard, &[]).json()["trials"], json!(6));
    }
    let candles = here.read("BTCUSDT_1m.csv");
    let (fewer, _) = candles.trim_end().rsplit_once('\n').unwrap();
    fs::write(here.path("BTCUSDT_1m.csv"), format!("{fewer}\n")).unwrap();
    let count = candles.lines().count() - 1;
    let counts = [count, count - 1].map(|count| format!("{count} candles"));
    run("2", &[]).fails(3, &["BTCUSDT@1m", &counts[0], &counts[1], "--data"]);
    fs::write(here.path("sweep/plan.json"), "{\"sets\": 3}").unwrap();
    run("2", &[]).fails(2, &["format"]);
}

#[test]
fn shard_of_a_later_round_needs_all_earlier_shards_unchanged() {
    let here = folder(2);
    here.run(&plan(&["--search", "tpe", "--trials", "24", "--batch", "12", "--shards", "2"])).json();
    let run = |shard: &str| here.run(&step(&["run", "--shard", shard], &[]));
    run("1").json();
    run("4").fails(2, &["shard 4", "shards 1 to 2", "shard 2 is missing"]);
    run("2").json();
    let journal = here.path("sweep/shard-2.jsonl");
    let late = fs::File::open(&journal).unwrap();
    late.lock().unwrap();
    run("3").fails(7, &["shard-2.jsonl"]);
    late.unlock().unwrap();
    for shard in ["3", "4"] {
        run(shard).json();
    }
    let sound = fs::read_to_string(&journal).unwrap();
    let unfinished: String = sound.split_inclusive('\n').take(4).collect();
    fs::write(&journal, unfinished).unwrap();
    run("4").fails(2, &["3 trials of shard 2"]);
    // Other results in the first round make the second round that of another search.
    let changed = sound.replacen("\"won\":", "\"won\":1", 1);
    assert_ne!(changed, sound);
    fs::write(&journal, changed).unwrap();
    run("3").fails(2, &["differences: after"]);
    here.run(&step(&["merge"], &[])).fails(2, &["differences: after"]);
    fs::write(&journal, sound).unwrap();
    here.run(&step(&["merge"], &[])).json();
}

#[test]
fn merges_a_search_that_ends_before_its_last_round() {
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
    assert_same(&whole.path("sweep"), &here.path("sweep"), &RESULTS);
}

#[test]
fn plan_of_a_walk_has_a_shard_for_each_window() {
    let (whole, here) = (folder(2), folder(2));
    let alone = whole.run(&walk(&[])).json();
    let mut plan = walk(&["--shards", "1"]);
    plan.insert(1, "plan");
    here.run_line("walk-forward run --shard 1").fails(2, &["walk-forward plan"]);
    // Even if fewer are requested.
    assert_eq!(here.run(&plan).json()["shards"], json!(5));
    here.run_line("walk-forward run --shard 6").fails(2, &["shard 6 of 5"]);
    for shard in 1..=5 {
        run_elsewhere(&here, "walk-forward", shard);
    }
    let merged = here.run_line("walk-forward merge --json").json();
    assert_eq!(merged["windows"], alone["windows"]);
}
