//! `monte-carlo`: the same paths on any number of threads and machines.

use crate::searched::{assert_merges, folder};

const DATA: [&str; 5] = ["--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];

#[test]
fn shards_on_several_machines_merge_to_the_files_of_one() {
    for what in ["candles", "trades"] {
        let way = [&DATA[..], &["--resample", what, "--paths", "14", "--seed", "3"]].concat();
        let here = assert_merges("monte-carlo", &way, ["paths.csv", "monte-carlo.json"]);
        assert_eq!(here.read("monte-carlo/paths.csv").lines().count(), 1 + 14, "{what}");
    }
}

#[test]
fn the_observed_run_is_the_backtest_and_wrong_arguments_are_refused() {
    let folder = folder(1);
    let run = |command: &str, more: &[&str]| folder.run(&[&[command], &DATA[..], more].concat());
    let found = run("monte-carlo", &["--resample", "trades", "--paths", "20"]).json();
    assert_eq!(found["observed"]["final_balance"], run("backtest", &[]).json()["final_balance"]);
    run("monte-carlo", &["--block", "0.5"]).fails(2, &["--block"]);
    run("monte-carlo", &["--resample", "dice"]).fails(2, &["dice"]);
    folder.run(&["monte-carlo", "run", "--shard", "1"]).fails(2, &["monte-carlo plan"]);
}
