//! `monte-carlo`: the same paths on any number of threads and machines.

use crate::candlewick::Folder;
use crate::searched::folder;

const DATA: [&str; 5] = ["--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];

#[test]
fn shards_on_several_machines_merge_to_the_files_of_one() {
    for what in ["candles", "trades"] {
        let way = [&DATA[..], &["--resample", what, "--paths", "14", "--seed", "3"]].concat();
        let whole = folder(1);
        let alone = whole.run(&[&["monte-carlo", "--threads", "1"], &way[..]].concat()).json();
        let here = folder(1);
        let plan = here.run(&[&["monte-carlo", "plan", "--shards", "3"], &way[..]].concat()).json();
        assert_eq!(plan["paths"], 14);
        let merge = || here.run(&["monte-carlo", "merge", "--json"]);
        for shard in ["3", "1", "2"] {
            merge().fails(2, &["monte-carlo run --shard"]);
            let there = Folder::new();
            std::fs::copy(here.path("monte-carlo/plan.json"), there.path("plan.json")).unwrap();
            std::fs::copy(here.path("BTCUSDT_1m.csv"), there.path("prices.csv")).unwrap();
            let journal = format!("shard-{shard}.jsonl");
            let run = ["monte-carlo", "run", "--json", "--shard", shard, "--plan", "plan.json", "--data"];
            let run = || {
                there.run(&[&run[..], &["BTCUSDT@1m=prices.csv"]].concat()).json();
                there.read(&journal)
            };
            let first = run();
            assert_eq!(run(), first, "a second run of a shard changes nothing");
            std::fs::write(here.path(&format!("monte-carlo/{journal}")), first).unwrap();
        }
        assert_eq!(merge().json()["quantiles"], alone["quantiles"], "{what}");
        for name in ["monte-carlo/paths.csv", "monte-carlo/monte-carlo.json"] {
            assert!(whole.read(name) == here.read(name), "{what}: {name} differs");
        }
        let shard = here.read("monte-carlo/shard-2.jsonl");
        let half: String = shard.split_inclusive('\n').take(3).collect();
        std::fs::write(here.path("monte-carlo/shard-2.jsonl"), half).unwrap();
        merge().fails(2, &["monte-carlo run --shard 2"]);
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
