//! The first minutes with the program: `live` in an empty folder, how it is stopped, and what it says when the venue
//! is not what the configuration promises.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder, Run, candlewick, folder_with_bot, last_document};
use crate::serving::Served;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

#[test]
fn in_an_empty_folder_bots_trade_within_ten_seconds() {
    let report = candlewick(&["live", "--sandbox", "--for", "10s", "--json"]).json();
    assert!(report["trades"].as_u64() > Some(0), "{report}");
    assert_eq!((&report["in_doubt"], &report["stop"]), (&0.into(), &"time_up".into()));
    // The venue's wallet is what the ledger says: nothing is open any more.
    let wallet = report["final_balance"].as_f64().unwrap() - 10_000.0;
    assert!((wallet - report["pnl"].as_f64().unwrap()).abs() < 1e-9, "{report}");
}

/// Sends a signal after the first trade has opened; answers the exit code, stdout and stderr.
fn interrupted_by(signal: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = Folder::new().with("five.toml", &BOT.replace("01:00", "05:00"));
    let mut command = folder.command(&[&["live", "--sandbox", "--json"], arguments].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let printed = std::thread::spawn(move || {
        let mut printed = String::new();
        stdout.read_to_string(&mut printed).unwrap();
        printed
    });
    let mut output = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    while !text.contains(" opened   #1 ") {
        assert_ne!(output.read_line(&mut text).unwrap(), 0, "it ended by itself: {text}");
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
    output.read_to_string(&mut text).unwrap();
    let printed = printed.join().unwrap();
    (child.wait().unwrap().code(), printed, text)
}

#[test]
fn ctrl_c_and_sigterm_end_it_cleanly_with_a_summary() {
    // A trade of five minutes is 2.5 s of a person's time at this venue, and is waited for.
    let five: &[&str] = &["--config", "five.toml"];
    for (signal, arguments, expected, stop) in
        [("INT", five, 130, "interrupted"), ("INT", &[], 130, "interrupted"), ("TERM", &[], 0, "terminated")]
    {
        let (code, printed, output) = interrupted_by(signal, arguments);
        assert!(output.contains(" stopping "), "{signal}: {output}");
        let report: Value = serde_json::from_str(last_document(&printed)).unwrap();
        assert_eq!(report["unfinished"].as_array().map(Vec::len), Some(0), "{signal}: {report}");
        assert_eq!(report["unsettled_stakes"], 0.0, "{signal}: {report}");
        assert_eq!(code, Some(expected), "{signal}: {output}");
        assert_eq!(report["stop"], stop, "{signal}");
        assert!(report["candles"].as_u64() > Some(0), "{signal}: {report}");
        let known = report["trades"].as_u64().unwrap() + report["unsettled"].as_u64().unwrap();
        assert!(known >= 1, "{signal}: the trade that was open is not output: {report}");
    }
}

#[test]
fn a_run_says_what_it_is_before_its_first_event() {
    let folder = folder_with_bot("rsi-reversal", "rsi-reversal");
    let live = ["live", "--sandbox", "--speed", "max", "--until-end", "--config", "bot.toml"];
    let live = [&live[..], &["--data", "BTCUSDT_1m.csv", "--journal"]].concat();
    let run = folder.run(&[&live[..], &["run.db"]].concat());
    let header = run.stdout.split("\n\n").next().unwrap();
    let said = header.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "venue embedded, http://127.0.0.1:",
        "in lock-step with the bots, faults: none",
        "candles 2026-01-05T00:00:00Z to 2026-01-05T00:50:00Z; the run ends with them",
        "wallet demo, 10000.00 free",
        "bots btc: rsi-reversal on BTCUSDT 1m, 01:00, stake ",
        "limits 3 open together, 1 on a symbol, 200 a day, a day's loss 100, drawdown 20 %",
        "journal sqlite://run.db",
        "control from another terminal: candlewick status, halt, resume or reload --journal run.db",
        "stop Ctrl-C",
    ] {
        assert!(said.contains(part), "no {part:?} in:\n{header}");
    }
    assert!(header.lines().all(|line| line.chars().count() <= 80), "{header}");
    // The first event is behind it.
    assert!(!header.contains("01-05 00:"), "{header}");
    for option in ["--json", "--quiet"] {
        let run = folder.run(&[&live[..], &["again.db", option]].concat());
        assert!(!format!("{}{}", run.stdout, run.stderr).contains("venue     "), "{option}");
        std::fs::remove_file(folder.path("again.db")).unwrap();
    }
}

#[test]
fn in_lock_step_a_run_ends_with_the_candles_and_at_another_speed_they_are_said_to_be_over() {
    // It never trades, so that nothing is open when the candles end.
    let folder = folder_with_bot(
        "strategy = \"rsi-reversal\"\nclose_type = \"01:00\"\nparams = { period = 2 }",
        "strategy = \"rules\"\nclose_type = \"01:00\"\nparams = { buy = \"close < 0\" }",
    );
    let live = ["live", "--sandbox", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--json"];
    // Fifty minutes of candles, and no word of when to stop.
    let run = folder.run(&[&live[..], &["--speed", "max"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.json()["stop"], "data_ends", "{}", run.stdout);
    assert!(!run.stderr.contains("are over"), "{}", run.stderr);
    // All of them in a second or two.
    let run = folder.run(&[&live[..], &["--speed", "10000", "--for", "5s"]].concat());
    let over = "the venue's candles are over: no more trades will open; Ctrl-C ends the run";
    assert_eq!(run.stderr.matches(over).count(), 1, "{}", run.stderr);
}

/// `live` of one bot with these credentials against a venue at these two addresses.
fn live(addresses: [&str; 2], [token, key]: [&str; 2], bot: &str) -> Run {
    let [base, price] = addresses;
    let broker = format!("[broker]\nbase_url = \"{base}\"\nprice_url = \"{price}\"\nread_attempts = 1\n");
    let folder = Folder::new().with("bot.toml", &(broker + bot));
    let folder = folder.with_variable("CANDLEWICK_BROKER__API_TOKEN", token);
    folder
        .with_variable("CANDLEWICK_BROKER__API_KEY", key)
        .run(&["live", "--config", "bot.toml", "--json", "--quiet"])
}

#[test]
fn live_without_a_venue_is_told_of_the_embedded_one_and_leaves_no_journal() {
    let folder = Folder::new().with("bot.toml", BOT);
    let run = folder.run(&["live", "--config", "bot.toml"]);
    run.fails(2, &["no venue is configured", "for the embedded venue add --sandbox"]);
    assert!(!folder.path("candlewick.db").exists());
}

#[test]
fn a_venue_that_is_not_there_is_reported() {
    // Nothing listens there; a port that was free a moment ago may be a neighbour's now.
    let nobody = "http://127.0.0.1:1";
    let run = live([nobody, nobody], ["hush-4711", "hush-4712"], BOT);
    run.fails(4, &["the venue did not answer \"who am I\"", "Connection refused", "broker.base_url"]);
}

#[test]
fn credentials_and_symbols_that_the_venue_does_not_know_are_reported() {
    let served = Served::start(&[]);
    let (address, token, key) = (served.text("base_url"), served.text("token"), served.text("api_key"));
    let live = |credentials, bot: &str| live([address, address], credentials, bot);
    let run = live(["hush-4711", key], BOT);
    run.fails(4, &["Invalid token", "CANDLEWICK_BROKER__API_TOKEN"]);
    assert!(!run.stderr.contains("hush"), "{}", run.stderr);
    let run = live([token, "hush-4711"], BOT);
    run.fails(4, &["Unauthorized", "CANDLEWICK_BROKER__API_KEY"]);
    assert!(!run.stderr.contains("hush"), "{}", run.stderr);
    let intervals = ["past candles of BTCUSDT 10m", "5s, 30s, 1m, 2m, 5m", "a live bot does not"];
    live([token, key], &BOT.replace("\"1m\"", "\"10m\"")).fails(2, &intervals);
    let output = ["no candles of DOGEUSDT 1m", "not found", "correct symbol or asset_type"];
    live([token, key], &BOT.replace("BTCUSDT", "DOGEUSDT")).fails(2, &output);
}

#[test]
fn a_token_never_travels_unencrypted_to_a_far_host() {
    for (addresses, key) in [
        (["http://venue.example", "https://venue.example"], "broker.base_url"),
        (["https://venue.example", "http://venue.example"], "broker.price_url"),
    ] {
        let run = live(addresses, ["hush-4711", "hush-4712"], BOT);
        run.fails(2, &[key, "http://venue.example", "https://"]);
        assert!(!run.stderr.contains("hush"), "{}", run.stderr);
    }
}
