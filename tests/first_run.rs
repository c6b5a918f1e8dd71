//! The first `live` runs: in an empty folder, stopped by signals, and with a wrong venue or credential.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder, Run, candlewick, folder_with_bot, last_document};
use crate::serving::{Served, send};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

#[test]
fn bots_trade_within_ten_seconds_in_an_empty_folder_and_the_wallet_matches_the_ledger() {
    let report = candlewick(&["live", "--sandbox", "--for", "10s", "--json"]).json();
    assert!(report["trades"].as_u64() > Some(0), "{report}");
    assert_eq!((&report["in_doubt"], &report["stop"]), (&0.into(), &"time_up".into()));
    let wallet = report["final_balance"].as_f64().unwrap() - 10_000.0;
    assert!((wallet - report["pnl"].as_f64().unwrap()).abs() < 1e-9, "{report}");
}

fn interrupted_by(signal: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = Folder::new().with("five.toml", &BOT.replace("01:00", "05:00"));
    let mut command = folder.command(&[&["live", "--sandbox", "--json"], arguments].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    let printed = std::thread::spawn(move || std::io::read_to_string(stdout).unwrap());
    let mut output = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    while !text.contains(" opened   #1 ") {
        assert_ne!(output.read_line(&mut text).unwrap(), 0, "the run ended early: {text}");
    }
    send(signal, &child);
    output.read_to_string(&mut text).unwrap();
    (child.wait().unwrap().code(), printed.join().unwrap(), text)
}

#[test]
fn ctrl_c_and_sigterm_wait_for_open_trades_and_print_the_report() {
    // A five-minute trade takes 2.5 s at this venue.
    let five: &[&str] = &["--config", "five.toml"];
    for (signal, arguments, expected, stop) in
        [("INT", five, 130, "interrupted"), ("INT", &[], 130, "interrupted"), ("TERM", &[], 0, "terminated")]
    {
        let (code, printed, output) = interrupted_by(signal, arguments);
        assert_eq!(code, Some(expected), "{signal}: {output}");
        let report: Value = serde_json::from_str(last_document(&printed)).unwrap();
        let ended = (&report["stop"], &report["unfinished"], report["unsettled_stakes"].as_f64());
        assert_eq!(ended, (&json!(stop), &json!([]), Some(0.0)), "{signal}: {report}");
        assert!(report["candles"].as_u64() > Some(0), "{signal}: {report}");
        let known = report["trades"].as_u64().unwrap() + report["unsettled"].as_u64().unwrap();
        assert!(known >= 1, "{signal}: the open trade is not reported: {report}");
    }
}

#[test]
fn only_lock_step_runs_end_with_the_candles() {
    // The bot never trades, so nothing is open when the candles end.
    let folder = folder_with_bot(
        "strategy = \"rsi-reversal\"\nclose_type = \"01:00\"\nparams = { period = 2 }",
        "strategy = \"rules\"\nclose_type = \"01:00\"\nparams = { buy = \"close < 0\" }",
    );
    let live = ["live", "--sandbox", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--json"];
    let run = |more: &[&str]| folder.run(&[&live[..], more].concat());
    let in_step = run(&["--speed", "max"]);
    assert_eq!(in_step.json()["stop"], "data_ends", "{}", in_step.stdout);
    // All candles pass within two seconds; the end of the data is reported once.
    let fast = run(&["--speed", "10000", "--for", "5s"]);
    for (run, times) in [(&in_step, 0), (&fast, 1)] {
        assert_eq!(run.stderr.matches("no more candles").count(), times, "{}", run.stderr);
    }
}

fn live(address: &str, [token, key]: [&str; 2], bot: &str) -> Run {
    let venue = format!("[broker]\nbase_url = \"{address}\"\nprice_url = \"{address}\"\nread_attempts = 1\n");
    let folder = Folder::new()
        .with("bot.toml", &(venue + bot))
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", token)
        .with_variable("CANDLEWICK_BROKER__API_KEY", key);
    let run = folder.run(&["live", "--config", "bot.toml", "--json", "--quiet"]);
    assert!(!run.stderr.contains("hush"), "{}", run.stderr);
    run
}

#[test]
fn names_unreachable_venues_and_unknown_credentials_and_series() {
    let folder = Folder::new().with("bot.toml", BOT);
    folder.run(&["live", "--config", "bot.toml"]).fails(2, &["--sandbox"]);
    assert!(!folder.path("candlewick.db").exists());
    // Port 1 has no listener.
    live("http://127.0.0.1:1", ["hush-4711"; 2], BOT).fails(4, &["broker.base_url"]);
    let served = Served::start(&[]);
    let (token, key) = (served.text("token"), served.text("api_key"));
    let (interval, symbol) = (BOT.replace("\"1m\"", "\"10m\""), BOT.replace("BTCUSDT", "DOGEUSDT"));
    for (credentials, bot, code, parts) in [
        (["hush-4711", key], BOT, 4, &["CANDLEWICK_BROKER__API_TOKEN"][..]),
        ([token, "hush-4711"], BOT, 4, &["CANDLEWICK_BROKER__API_KEY"]),
        ([token, key], &interval, 2, &["BTCUSDT 10m", "5s, 30s, 1m, 2m, 5m"]),
        ([token, key], &symbol, 2, &["DOGEUSDT 1m", "asset_type"]),
    ] {
        live(served.text("base_url"), credentials, bot).fails(code, parts);
    }
}
