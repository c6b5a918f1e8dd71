//! `sensitivity` as a user runs it: the points of `backtest --sensitivity`, the same on any number of machines.

use crate::candlewick::Folder;
use crate::searched::folder;
use serde_json::json;

const COMMON: [&str; 5] = ["--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];

#[test]
fn points_are_those_of_the_backtest_and_of_a_run_with_that_setting() {
    let folder = folder(1).with("payout.toml", "[simulation]\npayout_percent = 72.0\n");
    let found = folder.run(&[&["sensitivity", "--threads", "1"], &COMMON[..]].concat()).json();
    let backtest = folder.run(&[&["backtest", "--sensitivity"], &COMMON[..]].concat()).json();
    let curves = found["curves"].as_array().unwrap();
    assert_eq!(curves.len(), 4, "{found}");
    for key in ["curves", "break_even_payout_percent"] {
        assert_eq!(found[key], backtest["sensitivity"][key]);
    }
    let single = folder.run(&[&["backtest", "--config", "payout.toml"], &COMMON[..]].concat()).json();
    let payouts = curves.iter().find(|curve| curve["setting"] == "payout_percent").unwrap();
    let point = payouts["points"].as_array().unwrap().iter().find(|point| point["value"] == 72.0).unwrap();
    assert_eq!((&point["pnl"], &point["trades"]), (&single["pnl"], &single["trades"]));
}

#[test]
fn shards_on_several_machines_merge_to_the_files_of_one() {
    let whole = folder(1);
    whole.run(&[&["sensitivity", "--threads", "1"], &COMMON[..]].concat()).json();
    let here = folder(1);
    let plan = here.run(&[&["sensitivity", "plan", "--shards", "3"], &COMMON[..]].concat()).json();
    assert_eq!(plan["shards"], json!(3));
    let merge = ["sensitivity", "merge", "--json"];
    for shard in ["3", "1", "2"] {
        here.run(&merge).fails(2, &["is missing", "sensitivity run --shard"]);
        let there = Folder::new();
        std::fs::copy(here.path("sensitivity/plan.json"), there.path("plan.json")).unwrap();
        std::fs::copy(here.path("BTCUSDT_1m.csv"), there.path("prices.csv")).unwrap();
        let run = ["sensitivity", "run", "--json", "--shard", shard, "--plan", "plan.json", "--data"];
        let run = [&run[..], &["BTCUSDT@1m=prices.csv"]].concat();
        there.run(&run).json();
        let name = format!("shard-{shard}.jsonl");
        let rows = there.read(&name);
        there.run(&run).json();
        assert_eq!(there.read(&name), rows, "a second run adds nothing");
        std::fs::write(here.path(&format!("sensitivity/{name}")), rows).unwrap();
    }
    here.run(&merge).json();
    for name in ["sensitivity/points.csv", "sensitivity/sensitivity.json"] {
        assert!(whole.read(name) == here.read(name), "{name} differs");
    }
    // Half a shard, and one of another plan.
    let shard = here.read("sensitivity/shard-2.jsonl");
    let half: String = shard.split_inclusive('\n').take(3).collect();
    for (rows, parts) in [
        (half, ["shard 2", "sensitivity run --shard 2"]),
        (here.read("sensitivity/shard-1.jsonl"), ["shard-2.jsonl", "another plan"]),
    ] {
        std::fs::write(here.path("sensitivity/shard-2.jsonl"), rows).unwrap();
        here.run(&merge).fails(2, &parts);
    }
    here.run(&["sweep", "run", "--shard", "1", "--plan", "sensitivity/plan.json"]).fails(2, &["sensitivity"]);
}
