//! `sensitivity` as a user runs it: the points that `backtest --sensitivity` has, the same on any number of threads and machines.

use crate::candlewick::Folder;
use crate::searched::folder;
use serde_json::json;

const FILES: [&str; 2] = ["points.csv", "sensitivity.json"];

fn sensitivity<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["sensitivity", "--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"], more].concat()
}

#[test]
fn its_points_are_those_beside_the_report_of_the_backtest() {
    let folder = folder(1);
    let found = folder.run(&sensitivity(&["--threads", "1"])).json();
    let backtest =
        ["backtest", "--json", "--sensitivity", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];
    let beside = folder.run(&backtest).json();
    let expected = &beside["sensitivity"];
    assert!(expected["curves"].as_array().is_some_and(|curves| curves.len() == 4), "{expected}");
    assert_eq!(found["curves"], expected["curves"]);
    assert_eq!(found["break_even_payout_percent"], expected["break_even_payout_percent"]);
    // A run of its own at another payout has that point's profit.
    let own = "[simulation]\npayout_percent = 72.0\n";
    let single = folder.with("payout.toml", own);
    let single = single.run(&[&backtest[..], &["--config", "payout.toml"]].concat()).json();
    let payouts = found["curves"].as_array().unwrap().iter().find(|one| one["setting"] == "payout_percent");
    let points = payouts.unwrap()["points"].as_array().unwrap();
    let point = points.iter().find(|point| point["value"] == json!(72.0)).unwrap();
    assert_eq!((&point["pnl"], &point["trades"]), (&single["pnl"], &single["trades"]));
}

#[test]
fn shards_on_several_machines_merge_to_the_files_of_one() {
    let whole = folder(1);
    whole.run(&sensitivity(&["--threads", "1"])).json();
    let here = folder(1);
    let mut plan = sensitivity(&["--shards", "3"]);
    plan.insert(1, "plan");
    assert_eq!(here.run(&plan).json()["shards"], json!(3));
    let merge = ["sensitivity", "merge", "--json"];
    for shard in ["3", "1", "2"] {
        here.run(&merge).fails(2, &["is missing", "sensitivity run --shard"]);
        let there = Folder::new();
        std::fs::copy(here.path("sensitivity/plan.json"), there.path("plan.json")).unwrap();
        std::fs::copy(here.path("BTCUSDT_1m.csv"), there.path("prices.csv")).unwrap();
        let run = ["sensitivity", "run", "--json", "--shard", shard, "--plan", "plan.json", "--data"];
        let run = [&run[..], &["BTCUSDT@1m=prices.csv"]].concat();
        there.run(&run).json();
        let rows = format!("shard-{shard}.jsonl");
        let first = there.read(&rows);
        there.run(&run).json();
        assert_eq!(there.read(&rows), first, "twice is once");
        std::fs::write(here.path(&format!("sensitivity/{rows}")), first).unwrap();
    }
    here.run(&merge).json();
    for name in FILES {
        let of = |folder: &Folder| folder.read(&format!("sensitivity/{name}"));
        assert!(of(&whole) == of(&here), "{name} differs");
    }
    // Half a shard is none, and one of another plan is not taken.
    let shard = here.read("sensitivity/shard-2.jsonl");
    let half: String = shard.split_inclusive('\n').take(3).collect();
    std::fs::write(here.path("sensitivity/shard-2.jsonl"), half).unwrap();
    here.run(&merge).fails(2, &["not all rows of shard 2 are in it", "sensitivity run --shard 2"]);
    std::fs::write(here.path("sensitivity/shard-2.jsonl"), here.read("sensitivity/shard-1.jsonl")).unwrap();
    here.run(&merge).fails(2, &["shard-2.jsonl", "rows of another plan"]);
    here.run(&["sweep", "run", "--shard", "1", "--plan", "sensitivity/plan.json"])
        .fails(2, &["sensitivity made it"]);
}
