//! The bot whose parameters searches vary, and its candles; notices of sweeps.

use crate::candlewick::{Folder, candles};
use crate::excerpt::{DAY, MONDAY, shipped};

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

const SWEEP: [&str; 7] = ["sweep", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--min-trades", "1"];

fn short_folder(strategy: &str) -> Folder {
    let bot = BOT.replace("\"rsi-reversal\"", strategy).replace("params = { period = 5 }\n", "");
    Folder::new().with("bot.toml", &bot).with("BTCUSDT_1m.csv", &candles(400))
}

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
