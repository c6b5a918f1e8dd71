//! The bot whose parameters `sweep` and `walk-forward` search, and its candles; what a sweep says of sets without a result of their
//! own.

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

const CROSS: &str = r#"
[[bots]]
name = "btc"
symbol = "BTCUSDT"
interval = "1m"
strategy = "ema-cross"
close_type = "01:00"
"#;

const SWEEP: [&str; 7] = ["sweep", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--min-trades", "1"];

fn short_folder(bot: &str) -> Folder {
    Folder::new().with("bot.toml", bot).with("BTCUSDT_1m.csv", &candles(400))
}

/// The notes of a sweep.
fn notes(folder: &Folder, more: &[&str]) -> Vec<String> {
    let document = folder.run(&[&SWEEP, more, &["--json"]].concat()).json();
    serde_json::from_value(document["notices"].clone()).unwrap()
}

#[test]
fn sets_that_the_strategy_refuses_are_counted_with_its_reason_and_no_result_where_it_takes_none() {
    let folder = short_folder(CROSS);
    let none = ["--param", "fast=20,21", "--param", "slow=10,20", "--out", "none"];
    folder.run(&[&SWEEP, &none[..]].concat()).fails(
        2,
        &["strategy \"ema-cross\" refuses all 4 sets", "fast = 20 must be below slow = 10", "--where"],
    );
    assert!(!folder.path("none/results.csv").exists());
    let some = ["--param", "fast=20,21", "--param", "slow=10,30", "--out", "some"];
    let said = "the strategy refused 2 of 4 sets, the first because: ";
    let notes = notes(&folder, &some);
    assert!(
        notes.iter().any(|note| note.starts_with(said)
            && note.contains("slow = 10")
            && note.contains("--where \"fast < slow\"")),
        "{notes:?}"
    );
}

#[test]
fn durations_that_are_searched_beside_those_of_the_strategy_are_said_to_decide_nothing() {
    let rule = CROSS.replace("ema-cross", "rules") + "params = { file = \"rule.toml\" }\n";
    let said = "--param close_type decides nothing";
    for (own, is_said) in [("expiry = \"05:00\"\n", true), ("", false)] {
        let folder = short_folder(&rule).with("rule.toml", &format!("buy = \"close > open\"\n{own}"));
        let notes = notes(&folder, &["--param", "close_type=01:00,05:00"]);
        assert_eq!(notes.iter().any(|note| note.starts_with(said)), is_said, "{notes:?}");
    }
}
