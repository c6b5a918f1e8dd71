//! Two runs on one journal, with a venue that continues in between.
#![cfg(unix)]

use crate::candlewick::{Folder, Run};
use crate::seconds;
use crate::serving::Served;
use candlewick_broker::clock::{Clock, SystemClock};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

const POLL_INTERVAL: Duration = Duration::from_millis(200);
const MAX_POLLS: u32 = 1_500;
/// Seconds of candles before and after the present, more than all runs of a test may take.
pub(crate) const CANDLES: (i64, i64) = (600, 1_800);

/// A bot on one-second candles. On a busy machine its signals are more than half a second old.
pub(crate) const BOT: &str = r#"
[risk]
max_open_trades = 0
max_open_trades_per_symbol = 5
max_signal_delay_ms = 0
daily_loss_limit = 0
allow_opposite = true
allow_duplicate = true
[simulation]
latency_ms = 0
open_rounding = "none"
settle_delay_ms = 200
[runtime]
settle_after_ms = 200
[[bots]]
name = "btc"
symbol = "BTCUSDT"
interval = "1s"
strategy = "rsi-reversal"
params = { period = 2, oversold = 45.0, overbought = 55.0 }
close_type = "00:01"
"#;

pub(crate) fn venue_and_bot(venue: &str) -> (Served, Folder) {
    let now = SystemClock::new().now().get() / 1_000 * 1_000;
    let folder = Folder::new()
        .with("BTCUSDT_1s.csv", &seconds::candles(now, CANDLES))
        .with("bot.toml", BOT)
        .with("venue.toml", venue);
    let path = |name: &str| folder.path(name).to_string_lossy().into_owned();
    let (start, data) = ((now + 1_000).to_string(), path("BTCUSDT_1s.csv"));
    let (bot, venue) = (path("bot.toml"), path("venue.toml"));
    let when = ["--speed", "1", "--start", &start, "--data", &data];
    let served = Served::start(&[&when[..], &["--config", &bot, "--config", &venue]].concat());
    let folder = served.known_to(folder);
    (served, folder)
}

pub(crate) fn run_until(folder: &Folder, arguments: &[&str], has_happened: impl Fn() -> bool) -> Run {
    let mut command = folder.command(arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id().to_string();
    let ended = std::thread::spawn(move || child.wait_with_output().unwrap());
    let is_time = (0..MAX_POLLS).any(|_| {
        std::thread::sleep(POLL_INTERVAL);
        ended.is_finished() || has_happened()
    });
    if !ended.is_finished() {
        assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
    }
    let run = Run::from_output(&ended.join().unwrap());
    assert!(is_time, "timed out: {}{}", run.stdout, run.stderr);
    run
}

pub(crate) fn read_trades(folder: &Folder, journal: &str) -> Vec<Value> {
    let run = folder.run(&["trades", "--journal", journal, "--json"]);
    if run.code == 0 { run.json().as_array().unwrap().clone() } else { Vec::new() }
}

pub(crate) fn judged(folder: &Folder, journal: &str) -> usize {
    let has_result = |trade: &&Value| ["WON", "LOST", "DRAW"].iter().any(|word| trade["result"] == **word);
    read_trades(folder, journal).iter().filter(has_result).count()
}

pub(crate) fn check(journal: &str, variables: &[(&str, &str)], between: impl Fn(&Folder)) -> Folder {
    let (_served, folder) = venue_and_bot("");
    let folder = variables.iter().fold(folder, |folder, (name, value)| folder.with_variable(name, value));
    let run = || {
        let before = judged(&folder, journal);
        let arguments = ["live", "--config", "bot.toml", "--journal", journal, "--json", "--quiet"];
        run_until(&folder, &arguments, || judged(&folder, journal) > before).json()
    };
    let first = run();
    between(&folder);
    let second = run();
    for report in [&first, &second] {
        assert!(report["trades"].as_u64() > Some(0), "{report}");
    }
    let parity = folder.run(&["parity", "--journal", journal, "--json"]).json();
    assert_eq!((&parity["ok"], &parity["runs"]), (&Value::Bool(true), &Value::from(2)), "{parity}");
    for (number, expected) in [("1", &first), ("2", &second)] {
        let report = folder.run(&["report", "--journal", journal, "--run", number, "--json"]).json();
        for key in ["candles", "trades", "won", "lost", "refused", "pnl", "final_balance"] {
            assert_eq!(report[key], expected[key], "{key} of run {number}");
        }
    }
    folder
}
