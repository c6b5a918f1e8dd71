//! The bot whose parameters searches vary, and its candles; notices of sweeps.

use crate::candlewick::{Folder, candles};
use crate::excerpt::{DAY, MONDAY, shipped};
use serde_json::Value;

pub(crate) const BOT: &str = r#"
[[bots]]
name = "btc"
symbol = "BTCUSDT"
interval = "1m"
strategy = "rsi-reversal"
close_type = "01:00"
params = { period = 5 }
"#;

pub(crate) fn folder(days: i64) -> Folder {
    let candles = shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + days * DAY);
    Folder::new().with("bot.toml", BOT).with("BTCUSDT_1m.csv", &candles)
}

/// Returns a folder with the plan of a search, and its candles elsewhere, as on another machine.
pub(crate) fn elsewhere(here: &Folder, search: &str) -> Folder {
    let there = Folder::new();
    std::fs::create_dir(there.path("candles")).unwrap();
    std::fs::copy(here.path(&format!("{search}/plan.json")), there.path("plan.json")).unwrap();
    std::fs::copy(here.path("BTCUSDT_1m.csv"), there.path("candles/BTCUSDT_1m.csv")).unwrap();
    there
}

/// Runs a shard there, twice, and copies its file here. Returns what both runs report.
pub(crate) fn run_shard(here: &Folder, there: &Folder, (search, shard): (&str, u64)) -> [Value; 2] {
    let line = format!("{search} run --json --plan plan.json --data candles/BTCUSDT_1m.csv --shard {shard}");
    let file = format!("shard-{shard}.jsonl");
    let ran = there.run_line(&line).json();
    let first = there.read(&file);
    let again = there.run_line(&line).json();
    assert_eq!(there.read(&file), first, "a shard runs once");
    std::fs::write(here.path(&format!("{search}/{file}")), first).unwrap();
    [ran, again]
}

/// Asserts that three shards merge to the files of one run, and no half of one. Returns their folder.
pub(crate) fn assert_merges(search: &str, terms: &[&str], files: [&str; 2]) -> Folder {
    let (whole, here) = (folder(1), folder(1));
    whole.run(&[&[search, "--threads", "1"], terms].concat()).json();
    let plan = here.run(&[&[search, "plan", "--shards", "3"], terms].concat()).json();
    assert_eq!(plan["shards"], 3);
    let (merge, run) = (format!("{search} merge --json"), format!("{search} run --shard"));
    for shard in [3, 1, 2] {
        here.run_line(&merge).fails(2, &["is missing", &run]);
        run_shard(&here, &elsewhere(&here, search), (search, shard));
    }
    here.run_line(&merge).json();
    for name in files.map(|name| format!("{search}/{name}")) {
        assert!(whole.read(&name) == here.read(&name), "{terms:?}: {name} differs");
    }
    let shard = format!("{search}/shard-2.jsonl");
    let half: String = here.read(&shard).split_inclusive('\n').take(3).collect();
    std::fs::write(here.path(&shard), half).unwrap();
    here.run_line(&merge).fails(2, &["shard 2", &format!("{run} 2")]);
    here
}

const SWEEP: [&str; 7] = ["sweep", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--min-trades", "1"];

/// The bot with this strategy, and a few candles.
fn short_folder(strategy: &str) -> Folder {
    let bot = BOT.replace("\"rsi-reversal\"", strategy).replace("params = { period = 5 }\n", "");
    Folder::new().with("bot.toml", &bot).with("BTCUSDT_1m.csv", &candles(400))
}

/// Whether a sweep has a notice with all of these parts.
fn has_notice(folder: &Folder, more: &[&str], parts: &[&str]) -> bool {
    let document = folder.run(&[&SWEEP, more, &["--json"]].concat()).json();
    let notices: Vec<String> = serde_json::from_value(document["notices"].clone()).unwrap();
    notices.iter().any(|notice| parts.iter().all(|part| notice.contains(part)))
}

#[test]
fn counts_sets_that_the_strategy_refuses_and_fails_if_it_refuses_all() {
    let folder = short_folder("\"ema-cross\"");
    let none = ["--param", "fast=20,21", "--param", "slow=10,20", "--out", "none"];
    let refused = folder.run(&[&SWEEP, &none[..]].concat());
    refused.fails(2, &["all 4 sets", "fast = 20", "slow = 10", "--where"]);
    assert!(!folder.path("none/results.csv").exists());
    let some = ["--param", "fast=20,21", "--param", "slow=10,30", "--out", "some"];
    assert!(has_notice(&folder, &some, &["2 of 4 sets", "slow = 10", "--where \"fast < slow\""]));
}

#[test]
fn notes_that_close_type_decides_nothing_for_a_rule_with_its_own_expiry() {
    for (own, is_noted) in [("expiry = \"05:00\"\n", true), ("", false)] {
        let folder = short_folder("\"rules\"\nparams = { file = \"rule.toml\" }")
            .with("rule.toml", &format!("buy = \"close > open\"\n{own}"));
        let durations = ["--param", "close_type=01:00,05:00"];
        assert_eq!(has_notice(&folder, &durations, &["--param close_type decides nothing"]), is_noted);
    }
}
