//! `sensitivity` as a user runs it: the points of `backtest --sensitivity`, the same on any number of machines.

use crate::searched::{assert_merges, folder};

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
    let here = assert_merges("sensitivity", &COMMON, ["points.csv", "sensitivity.json"]);
    let of_another = here.read("sensitivity/shard-1.jsonl");
    std::fs::write(here.path("sensitivity/shard-2.jsonl"), of_another).unwrap();
    here.run_line("sensitivity merge --json").fails(2, &["shard-2.jsonl", "another plan"]);
    here.run(&["sweep", "run", "--shard", "1", "--plan", "sensitivity/plan.json"]).fails(2, &["sensitivity"]);
}
