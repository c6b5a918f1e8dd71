//! Files named in a configuration: found next to it or in the working folder, refused if both exist and differ.

use crate::candlewick::{BOT, Folder, bot_with, candles};
use serde_json::Value;
use std::fs;

const FILES: [(&str, &str); 3] = [
    ("my.toml", "buy = \"close > open\"\n"),
    ("news.csv", "from,to\n2026-01-05 00:15,2026-01-05 00:35\n"),
    ("list.csv", "time,symbol,direction\n2026-01-05 00:45,BTCUSDT,BUY\n"),
];
const SECTIONS: &str = "[risk]\nblackouts = \"news.csv\"\n[signals]\nlist = \"list.csv\"\n[sandbox]\ndata = [\"BTCUSDT@1m=own.csv\"]\n";

fn folder() -> Folder {
    let folder = Folder::new().with("BTCUSDT_1m.csv", &candles(50));
    fs::create_dir(folder.path("conf")).unwrap();
    let folder = FILES.iter().fold(folder, |folder, (name, text)| folder.with(&format!("conf/{name}"), text));
    folder
        .with("conf/own.csv", &candles(50))
        .with("conf/bot.toml", &format!("{SECTIONS}{}", bot_with("rules", "file = \"my.toml\"")))
}

fn backtest(folder: &Folder, config: &str) -> [Value; 5] {
    let report = folder.run(&["backtest", "--config", config, "--json", "--quiet"]).json();
    ["trades", "won", "refused", "data_hash", "notices"].map(|key| report[key].clone())
}

#[test]
fn finds_files_next_to_the_configuration_in_the_working_folder_and_by_absolute_path() {
    let folder = folder();
    let adjacent = backtest(&folder, "conf/bot.toml");
    assert!(adjacent[0].as_u64() > Some(10) && adjacent[2]["Blackout"].as_u64() > Some(1), "{adjacent:?}");
    assert!(adjacent[4].to_string().contains("signal list"), "{adjacent:?}");
    let whole = folder.path("conf/bot.toml").display().to_string();
    assert_eq!(backtest(&Folder::new(), &whole), adjacent);
    for name in FILES.map(|(name, _)| name).into_iter().chain(["own.csv"]) {
        fs::rename(folder.path("conf").join(name), folder.path(name)).unwrap();
    }
    assert_eq!(backtest(&folder, "conf/bot.toml"), adjacent);
    // Identical content in both folders is unambiguous.
    fs::copy(folder.path("my.toml"), folder.path("conf/my.toml")).unwrap();
    assert_eq!(backtest(&folder, "conf/bot.toml"), adjacent);
}

#[test]
fn nested_combination_finds_its_files_live_and_in_a_replay() {
    let part = "{ strategy = \"combine\", params = { first_of = [{ strategy = \"rules\", params = { file = \"my.toml\" } }] } }";
    let folder = folder().with("conf/bot.toml", &bot_with("combine", &format!("first_of = [{part}]")));
    let live = ["live", "--sandbox", "--speed", "max", "--until-end", "--journal", "run.db", "--quiet"];
    let config = ["--config", "conf/bot.toml", "--data", "BTCUSDT_1m.csv", "--json"];
    let trades = folder.run(&[&live[..], &config].concat()).json()["trades"].clone();
    assert!(trades.as_u64() > Some(10), "{trades}");
    assert_eq!(folder.query("parity", "run.db")["unexplained"], 0);
}

#[test]
fn names_differing_or_missing_files_by_both_absolute_paths() {
    let folder = folder().with("my.toml", "buy = \"close < open\"\n");
    let root = folder.path("").canonicalize().unwrap();
    for (text, name, code) in [
        (bot_with("rules", "file = \"my.toml\""), "my.toml", 2),
        (bot_with("rules", "file = \"gone.toml\""), "gone.toml", 3),
        (format!("[risk]\nblackouts = \"gone.csv\"\n{BOT}"), "gone.csv", 3),
        (format!("[signals]\nlist = \"gone.csv\"\n{BOT}"), "gone.csv", 3),
    ] {
        fs::write(folder.path("conf/bot.toml"), text).unwrap();
        let run = folder.run_line("backtest --config conf/bot.toml --data BTCUSDT_1m.csv --quiet");
        let places = [root.join("conf").join(name), root.join(name)].map(|path| path.display().to_string());
        run.fails(code, &[&places[0], &places[1]]);
    }
    // The command line resolves files in the working folder only.
    let run = folder.run(&["backtest", "--rules", "gone.toml", "--quiet"]);
    run.fails(3, &[&format!(" {}\n", root.join("gone.toml").display())]);
}
