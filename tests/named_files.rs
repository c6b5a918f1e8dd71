//! Files that a configuration names are found beside it, as well as in the working folder; which one is meant is never guessed.

use crate::candlewick::{BOT, Folder, candles};
use serde_json::Value;
use std::fs;

const RULE: &str = "buy = \"close > open\"\n";
const OTHER: &str = "buy = \"close < open\"\n";
/// Of the first hour of the 5th of January 2026, in which the candles lie.
const NEWS: &str = "from,to\n2026-01-05 00:15,2026-01-05 00:35\n";
const LIST: &str = "time,symbol,direction\n2026-01-05 00:45,BTCUSDT,BUY\n";

fn folder() -> Folder {
    let folder = Folder::new().with("BTCUSDT_1m.csv", &candles(50));
    fs::create_dir(folder.path("conf")).unwrap();
    let rule = BOT.replace("rsi-reversal", "rules").replace("period = 2", "file = \"my.toml\"");
    folder.with("conf/bot.toml", &rule).with("conf/my.toml", RULE)
}

fn trades(folder: &Folder, config: &str) -> Value {
    let run = ["backtest", "--config", config, "--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
    let report = folder.run(&run).json();
    Value::from(vec![report["trades"].clone(), report["won"].clone(), report["refused"].clone()])
}

#[test]
fn a_rule_is_found_beside_its_configuration_in_the_working_folder_and_by_its_whole_path() {
    let folder = folder();
    let beside = trades(&folder, "conf/bot.toml");
    assert!(beside[0].as_u64() > Some(10), "{beside}");
    // In the working folder alone, as ever.
    fs::rename(folder.path("conf/my.toml"), folder.path("my.toml")).unwrap();
    assert_eq!(trades(&folder, "conf/bot.toml"), beside);
    // The same content at both places is no doubt.
    let folder = folder.with("conf/my.toml", RULE);
    assert_eq!(trades(&folder, "conf/bot.toml"), beside);
    // Inside of a combination, and of one in it.
    let part = "{ strategy = \"combine\", params = { first_of = [{ strategy = \"rules\", params = { file = \"sub/part.toml\" } }] } }";
    let combined =
        BOT.replace("rsi-reversal", "combine").replace("period = 2", &format!("first_of = [{part}]"));
    fs::create_dir(folder.path("conf/sub")).unwrap();
    let folder = folder.with("conf/combined.toml", &combined).with("conf/sub/part.toml", RULE);
    assert_eq!(trades(&folder, "conf/combined.toml"), beside);
    // From another working folder, by the whole path of the configuration.
    let elsewhere = Folder::new().with("BTCUSDT_1m.csv", &candles(50));
    assert_eq!(trades(&elsewhere, &folder.path("conf/combined.toml").display().to_string()), beside);
    // In a live run, and its replay.
    let live = ["live", "--sandbox", "--speed", "max", "--until-end", "--journal", "run.db", "--quiet"];
    let config = ["--config", "conf/combined.toml", "--data", "BTCUSDT_1m.csv"];
    folder.run(&[&live[..], &config, &["--json"]].concat()).json();
    let parity = folder.run(&["parity", "--journal", "run.db", "--json"]).json();
    assert_eq!(parity["unexplained"], 0, "{parity}");
}

#[test]
fn two_files_of_one_name_that_differ_are_refused_with_both_whole_paths() {
    let folder = folder().with("my.toml", OTHER);
    let (beside, here) = (folder.path("conf/my.toml"), folder.path("my.toml"));
    let run = folder.run(&["backtest", "--config", "conf/bot.toml", "--data", "BTCUSDT_1m.csv", "--quiet"]);
    let places = [beside, here].map(|path| path.canonicalize().unwrap().display().to_string());
    run.fails(2, &["bots.params.file", &places[0], &places[1], "write the whole path"]);
}

#[test]
fn a_file_that_is_at_neither_place_is_named_with_both() {
    let folder = folder();
    for (config, text, name) in [
        (
            "rule.toml",
            BOT.replace("rsi-reversal", "rules").replace("period = 2", "file = \"gone.toml\""),
            "gone.toml",
        ),
        ("news.toml", format!("[risk]\nblackouts = \"gone.csv\"\n{BOT}"), "gone.csv"),
        ("list.toml", format!("[signals]\nlist = \"gone.csv\"\n{BOT}"), "gone.csv"),
    ] {
        fs::write(folder.path("conf").join(config), text).unwrap();
        let config = format!("conf/{config}");
        let run = folder.run(&["backtest", "--config", &config, "--data", "BTCUSDT_1m.csv", "--quiet"]);
        let root = folder.path("").canonicalize().unwrap();
        let places = [root.join("conf").join(name), root.join(name)].map(|path| path.display().to_string());
        run.fails(3, &["it was looked for as", &places[0], &places[1]]);
    }
    // A rule on the command line is looked for in the working folder alone.
    let run = folder.run(&["backtest", "--rules", "gone.toml", "--quiet"]);
    let here = folder.path("").canonicalize().unwrap().join("gone.toml").display().to_string();
    run.fails(3, &[&format!("it was looked for as {here}\n")]);
}

#[test]
fn calendars_lists_and_candles_are_found_beside_the_configuration_too() {
    let folder = Folder::new();
    fs::create_dir(folder.path("conf")).unwrap();
    let text = format!(
        "[risk]\nblackouts = \"news.csv\"\n[signals]\nlist = \"list.csv\"\n[sandbox]\ndata = [\"BTCUSDT@1m=own.csv\"]\n{BOT}"
    );
    let folder = folder
        .with("conf/bot.toml", &text)
        .with("conf/news.csv", NEWS)
        .with("conf/list.csv", LIST)
        .with("conf/own.csv", &candles(50));
    let beside = folder.run(&["backtest", "--config", "conf/bot.toml", "--json", "--quiet"]).json();
    let same = Folder::new()
        .with("bot.toml", &text)
        .with("news.csv", NEWS)
        .with("list.csv", LIST)
        .with("own.csv", &candles(50));
    let here = same.run(&["backtest", "--config", "bot.toml", "--json", "--quiet"]).json();
    assert!(here["refused"]["Blackout"].as_u64() > Some(1), "{here}");
    assert!(here["notices"].to_string().contains("the list of signals (1 entry) has 1"), "{here}");
    for key in ["trades", "refused", "data_hash"] {
        assert_eq!(beside[key], here[key], "{key}");
    }
}
