//! `monte-carlo` as a user runs it: the same paths on any number of threads and machines, and no path where there is nothing to draw from.

use crate::candlewick::Folder;
use crate::searched::folder;
use serde_json::{Value, json};

const FILES: [&str; 2] = ["paths.csv", "monte-carlo.json"];

fn monte_carlo<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["monte-carlo", "--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"], more].concat()
}

#[track_caller]
fn assert_same(one: &Folder, other: &Folder, what: &str) {
    for name in FILES {
        let of = |folder: &Folder| folder.read(&format!("monte-carlo/{name}"));
        assert!(of(one) == of(other), "{what}: {name} differs");
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn shards_on_several_machines_merge_to_the_files_of_one() {
    for what in ["candles", "trades"] {
        let way = ["--resample", what, "--paths", "14", "--seed", "3"];
        let whole = folder(1);
        let alone = whole.run(&monte_carlo(&[&way[..], &["--threads", "1"]].concat())).json();
        let here = folder(1);
        let mut plan = monte_carlo(&[&way[..], &["--shards", "3"]].concat());
        plan.insert(1, "plan");
        assert_eq!(here.run(&plan).json()["paths"], json!(14));
        let merge = ["monte-carlo", "merge", "--json"];
        for shard in ["3", "1", "2"] {
            here.run(&merge).fails(2, &["is missing", "monte-carlo run --shard"]);
            let there = Folder::new();
            std::fs::copy(here.path("monte-carlo/plan.json"), there.path("plan.json")).unwrap();
            std::fs::copy(here.path("BTCUSDT_1m.csv"), there.path("prices.csv")).unwrap();
            let run = ["monte-carlo", "run", "--json", "--shard", shard, "--plan", "plan.json", "--data"];
            let run = [&run[..], &["BTCUSDT@1m=prices.csv"]].concat();
            there.run(&run).json();
            let journal = format!("shard-{shard}.jsonl");
            let first = there.read(&journal);
            there.run(&run).json();
            assert_eq!(there.read(&journal), first, "twice is once");
            std::fs::write(here.path(&format!("monte-carlo/{journal}")), first).unwrap();
        }
        let merged = here.run(&merge).json();
        assert_eq!(merged["quantiles"], alone["quantiles"], "{what}");
        assert_same(&whole, &here, what);
        // Half a shard is none.
        let shard = here.read("monte-carlo/shard-2.jsonl");
        let half: String = shard.split_inclusive('\n').take(3).collect();
        std::fs::write(here.path("monte-carlo/shard-2.jsonl"), half).unwrap();
        here.run(&merge).fails(2, &["not all rows of shard 2 are in it", "monte-carlo run --shard 2"]);
    }
}

#[test]
fn paths_spread_around_the_run_and_intervals_hold_their_values() {
    let folder = folder(1);
    let found = folder.run(&monte_carlo(&["--resample", "trades", "--paths", "400", "--block", "1"])).json();
    let backtest = ["backtest", "--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];
    let single = folder.run(&backtest).json();
    assert_eq!(found["observed"]["final_balance"], single["final_balance"], "the run itself");
    let quantiles = found["quantiles"].as_array().unwrap();
    let values: Vec<f64> = quantiles.iter().map(|row| number(&row["final_balance"]["value"])).collect();
    assert!(values.is_sorted() && values[0] < values[4], "{values:?}");
    for row in quantiles {
        for figure in ["final_balance", "max_drawdown_percent"] {
            let [lower, value, upper] = ["lower", "value", "upper"].map(|key| number(&row[figure][key]));
            assert!(lower <= value && value <= upper, "{row}");
        }
    }
    // Drawn one by one, the mean of what trades bring is that of the run.
    let middle = values[2];
    let observed = number(&found["observed"]["final_balance"]);
    assert!((middle - observed).abs() < (values[4] - values[0]) / 2.0, "{middle} and {observed}");
    let rows = folder.read("monte-carlo/paths.csv");
    assert_eq!(rows.lines().count(), 401);
    assert!(!found["assumes"].as_array().unwrap().is_empty());
    let other = ["--resample", "trades", "--paths", "400", "--block", "1", "--seed", "2"];
    folder.run(&[monte_carlo(&other), vec!["--out", "other"]].concat()).json();
    assert_ne!(rows, folder.read("other/paths.csv"), "another seed");
}

#[test]
fn what_cannot_be_resampled_is_refused_with_a_way_out() {
    let folder = folder(1);
    folder.run(&monte_carlo(&["--block", "0.5"])).fails(2, &["--block", "use a number from 1"]);
    folder.run(&monte_carlo(&["--resample", "dice"])).fails(2, &["use candles or trades"]);
    folder.run(&["monte-carlo", "run", "--shard", "1"]).fails(2, &["there is no plan", "monte-carlo plan"]);
}
