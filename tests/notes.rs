//! Lints of valid configurations, in each command that shows them.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, MONDAY, folder_of_days, shipped};
use serde_json::Value;

/// A rule with a warm-up of days that compares adjacent values of longer candles.
const TREND: &str = "sell = \"falling(ema(20)@15m, 1) and rsi(14) > 60\"\n";
const BACKTEST: [&str; 5] = ["backtest", "--json", "--quiet", "--data", "BTCUSDT_1m.csv"];
const CHECK: [&str; 3] = ["config", "check", "--json"];
const LIVE: [&str; 6] = ["live", "--sandbox", "--speed", "max", "--data", "BTCUSDT_1m.csv"];

fn bot(name: &str, symbol: &str, params: &str) -> String {
    format!(
        "[[bots]]\nname = \"{name}\"\nsymbol = \"{symbol}\"\ninterval = \"1m\"\nstrategy = \"rules\"\nclose_type = \"01:00\"\nparams = {{ \
         {params} }}\n"
    )
}

fn folder() -> Folder {
    folder_of_days(4)
        .with("trend.toml", TREND)
        .with("bot.toml", &bot("trend", "BTCUSDT", "file = \"trend.toml\""))
}

fn printed(folder: &Folder, command: &[&str]) -> String {
    let run = folder.run(&[command, &["--config", "bot.toml"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn notices<'a>(report: &'a Value, part: &str) -> Vec<&'a str> {
    let all = report["notices"].as_array().unwrap().iter().filter_map(Value::as_str);
    all.filter(|notice| notice.contains(part)).collect()
}

#[test]
fn reports_warm_up_and_doubts_about_a_rule_before_and_after_a_run() {
    let meant = "`falling(ema(20), 1)@15m`";
    let folder = folder();
    let report: Value = serde_json::from_str(&printed(&folder, &BACKTEST)).unwrap();
    let (all, condition) = (report["candles"].as_u64().unwrap(), &report["conditions"][0]);
    let evaluated = condition["candles"].as_u64().unwrap();
    let found = notices(&report, "warm-up");
    let expected = format!("bot \"trend\": the first {} of {all} candles", all - evaluated);
    assert!(found.len() == 1 && found[0].starts_with(&expected), "{expected}: {found:?}");
    assert_eq!(notices(&report, meant).len(), 1, "{report}");
    let needs = format!("the strategy needs {} candles of 1m", all - evaluated + 1);
    let (checked, live) = (printed(&folder, &CHECK), printed(&folder, &LIVE));
    assert!(checked.contains(&needs) && checked.contains(meant) && live.contains(&needs), "{checked}{live}");
    let short = folder.with("trend.toml", "sell = \"close > open\"\n");
    let report: Value = serde_json::from_str(&printed(&short, &BACKTEST)).unwrap();
    assert_eq!(notices(&report, "warm-up"), [""; 0]);
    assert!(!printed(&short, &LIVE).contains("the strategy needs"));
    let tuned = short.with("trend.toml", &TREND.replace("ema(20)", "ema(5)"));
    let report = tuned.run(&["tune", "trend.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet"]).json();
    let found = notices(&report, "are a warm-up");
    let numbers: Vec<u64> = found[0].split(' ').filter_map(|word| word.parse().ok()).collect();
    assert_eq!(numbers[1] - numbers[0], report["conditions"][0]["candles"].as_u64().unwrap(), "{found:?}");
}

#[test]
fn notes_symbols_without_a_common_time() {
    let bots =
        bot("one", "BTCUSDT", "buy = \"close > open\"") + &bot("other", "ETHUSDT", "buy = \"close > open\"");
    let config = format!("[risk]\nbest_payout_of = [\"BTCUSDT\", \"ETHUSDT\"]\n{bots}");
    for (later, is_said) in [(MONDAY + 4 * DAY, true), (MONDAY, false)] {
        let candles = shipped("BTCUSDT_1m.csv", later, later + DAY);
        let folder = folder().with("bot.toml", &config).with("ETHUSDT_1m.csv", &candles);
        let text = printed(&folder, &[&BACKTEST[..], &["--data", "ETHUSDT_1m.csv"]].concat());
        assert_eq!(text.contains("risk.best_payout_of: the candles of BTCUSDT, ETHUSDT"), is_said, "{text}");
    }
}

#[test]
fn warns_about_a_misleading_time_zone_in_every_command() {
    let text = "[risk]\nday_timezone = 'EST'\n".to_owned() + &bot("a", "BTCUSDT", "buy = \"hour() == 9\"");
    let folder = folder().with("bot.toml", &text);
    for command in [&CHECK[..], &BACKTEST, &LIVE] {
        let printed = printed(&folder, command);
        assert_eq!(printed.matches("risk.day_timezone: EST has no daylight").count(), 1, "{printed}");
    }
}
