//! Results of backtests that are known: found when nothing changed, and never when anything did.

use crate::candlewick::{BOT, Folder, candles};
use serde_json::{Value, json};
use std::path::PathBuf;

const BACKTEST: [&str; 6] = ["backtest", "--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];
/// Nothing is too short to be kept.
const KEEP_ALL: (&str, &str) = ("CANDLEWICK_DATA__CACHE_RESULTS_FROM", "0");

fn folder() -> Folder {
    let (key, value) = KEEP_ALL;
    Folder::new().with("bot.toml", BOT).with("BTCUSDT_1m.csv", &candles(400)).with_variable(key, value)
}

fn report(folder: &Folder, more: &[&str]) -> Value {
    folder.run(&[&BACKTEST[..], more].concat()).json()
}

/// Whether the run was known.
#[track_caller]
fn is_known(folder: &Folder, more: &[&str]) -> bool {
    report(folder, more)["cached"].as_bool().unwrap()
}

/// The files of results.
fn kept(folder: &Folder) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder.path(".cache/candlewick/results")) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_known_run_is_told_to_the_byte_as_it_was_made() {
    let folder = folder();
    let asked = ["--sensitivity", "--trades"];
    let made = report(&folder, &[&asked[..], &["made.csv"]].concat());
    let mut found = report(&folder, &[&asked[..], &["found.csv"]].concat());
    assert!(made["trades"].as_u64().unwrap() > 20 && made["sensitivity"].is_object(), "{made}");
    assert_eq!((&made["cached"], &found["cached"]), (&json!(false), &json!(true)));
    // The time it took is that of then.
    found["cached"] = json!(false);
    assert_eq!(found.to_string(), made.to_string());
    assert_eq!(folder.read("found.csv"), folder.read("made.csv"));
    assert!(folder.read("made.csv").lines().count() > 20);

    let words = |more: &[&str]| folder.run(&[&["backtest"], &BACKTEST[2..], more].concat()).stdout;
    let but_the_pace = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.contains(" a second") && !line.contains("──"));
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let (known, run) = (words(&[]), words(&["--no-cache"]));
    assert!(
        known.contains("found again (--no-cache makes it)") && !run.contains("found again"),
        "{known}{run}"
    );
    assert_eq!(but_the_pace(&known), but_the_pace(&run));
}

#[test]
fn whatever_is_changed_is_made_anew() {
    let folder = folder();
    assert!(!is_known(&folder, &[]) && is_known(&folder, &[]));
    for change in [
        &["--from", "2026-01-05T01:00:00Z"][..],
        &["--to", "2026-01-05T05:00:00Z"],
        &["--stress"],
        &["--stress", "0.25"],
    ] {
        assert!(!is_known(&folder, change), "{change:?}");
        assert!(is_known(&folder, change), "{change:?}");
    }
    for (key, value) in [
        ("SIMULATION__PAYOUT_PERCENT", "85"),
        ("SIMULATION__LATENCY_MS", "2500"),
        ("SIMULATION__DRAW", "loss"),
        ("ACCOUNT__INITIAL_BALANCE", "5000"),
        ("RISK__MAX_OPEN_TRADES", "1"),
        ("RISK__COOLDOWN_AFTER_LOSS_S", "60"),
        ("RISK__VERDICT__ALPHA", "0.01"),
        ("RUNTIME__PRICE_EVERY_MS", "2000"),
    ] {
        let run = || {
            let mut command = folder.command(&BACKTEST);
            let output = command.env(format!("CANDLEWICK_{key}"), value).output().unwrap();
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            report["cached"].clone()
        };
        assert_eq!((run(), run()), (json!(false), json!(true)), "{key}");
    }
    let mut folder = folder;
    for (from, to) in [
        ("period = 2", "period = 3"),
        ("period = 2", "period = 2, oversold = 29.0"),
        ("01:00", "02:00"),
        ("name = \"btc\"", "name = \"other\""),
        ("rsi-reversal", "ema-cross"),
        ("close_type", "stake = { kind = \"fixed\", amount = 11 }\nclose_type"),
    ] {
        let params = if to == "ema-cross" { BOT.replace("{ period = 2 }", "{}") } else { BOT.to_owned() };
        folder = folder.with("bot.toml", &params.replace(from, to));
        assert!(!is_known(&folder, &[]) && is_known(&folder, &[]), "{to}");
    }
    folder = folder.with("bot.toml", BOT);
    assert!(is_known(&folder, &[]), "what it was before");
    let data = candles(400);
    for changed in [candles(401), data.replacen(",101,", ",100.5,", 1), data.replacen(",1\n", ",2\n", 1)] {
        assert_ne!(changed, data);
        folder = folder.with("BTCUSDT_1m.csv", &changed);
        assert!(!is_known(&folder, &[]), "other candles");
    }
    folder = folder.with("BTCUSDT_1m.csv", &data);
    assert!(is_known(&folder, &[]), "the candles that were before");
}

#[test]
fn a_file_that_a_parameter_names_counts_by_what_it_holds() {
    let bot = BOT.replace("rsi-reversal", "signal-list").replace("period = 2", "file = \"list.csv\"");
    let signal =
        |minute: i64, side: &str| format!("{},BTCUSDT,{side}\n", 1_767_571_200_000 + minute * 60_000);
    let list = |minute: i64| format!("time,symbol,direction\n{}", signal(minute, "BUY"));
    let mut folder = folder().with("bot.toml", &bot);
    for minute in [100, 101] {
        folder = folder.with("list.csv", &list(minute));
        assert!(!is_known(&folder, &[]), "{minute}");
        assert!(is_known(&folder, &[]), "{minute}");
    }
    folder = folder.with("list.csv", &list(100));
    let report = report(&folder, &["--trades", "trades.csv"]);
    assert_eq!((&report["cached"], &report["trades"]), (&json!(true), &json!(1)));
    assert!(folder.read("trades.csv").contains(&(1_767_571_200_000_i64 + 100 * 60_000).to_string()));
}

#[test]
fn what_is_damaged_or_refused_or_short_is_made_and_never_trusted() {
    let folder = folder();
    assert!(!is_known(&folder, &["--no-cache"]) && kept(&folder).is_empty());
    // A journal is written by a run only.
    assert!(!is_known(&folder, &["--journal", "run.jsonl"]) && kept(&folder).is_empty());
    assert!(!is_known(&folder, &[]) && is_known(&folder, &[]));
    assert!(!is_known(&folder, &["--no-cache"]) && !is_known(&folder, &["--journal", "second.jsonl"]));
    assert_eq!(folder.read("run.jsonl"), folder.read("second.jsonl"));
    let [file] = kept(&folder).try_into().unwrap();
    let whole = std::fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    for damaged in [&whole[..whole.len() - 1], b"", b"no result", &flipped] {
        std::fs::write(&file, damaged).unwrap();
        assert!(!is_known(&folder, &[]), "damaged");
        assert!(is_known(&folder, &[]), "mended");
    }
    let none = folder.with_variable("CANDLEWICK_DATA__CACHE", "");
    assert!(!is_known(&none, &[]) && !is_known(&none, &[]), "no cache is kept");

    let usual = Folder::new().with("bot.toml", BOT).with("BTCUSDT_1m.csv", &candles(400));
    assert!(
        !is_known(&usual, &[]) && !is_known(&usual, &[]) && kept(&usual).is_empty(),
        "a run of 400 candles"
    );
}
