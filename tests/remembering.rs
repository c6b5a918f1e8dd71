//! A run that forgets what is over as soon as it may, and one that forgets nothing: from outside they are the same, ended or killed.
#![cfg(all(unix, debug_assertions))]

use crate::candlewick::{Folder, last_document};
use crate::excerpt::{HOUR, MONDAY, shipped};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt as _;

/// Some trades an hour on each of two symbols, in nine hours, of which a run remembers twelve minutes at least.
const BOTS: &str = r#"
[risk]
max_open_trades = 0
max_open_trades_per_symbol = 0
max_trades_per_day = 0
daily_loss_limit = 0
max_drawdown_percent = 0
allow_opposite = true
allow_duplicate = true
[[bots]]
name = "often"
symbol = "BTCUSDT"
interval = "1m"
strategy = "coin"
params = { seed = 1, share = 0.4 }
close_type = "01:00"
[[bots]]
name = "longer"
symbol = "EURUSD"
asset_type = "forex"
interval = "1m"
strategy = "coin"
params = { seed = 2, share = 0.2 }
close_type = "05:00"
stake = { kind = "martingale", amount = 1, factor = 2.0, levels = 2 }
[runtime]
list_every_s = 60
snapshot_every = 500
remember_s = "#;
/// Of two hundred trades that are over when a run is killed, those that began first.
const LONG_BEFORE: usize = 180;
/// In these a run without a memory says what one with a whole one does.
const SAID: [&str; 8] = ["candles", "trades", "won", "lost", "refused", "pnl", "final_balance", "bots"];

/// What is known of a run from outside.
#[derive(PartialEq)]
struct Known {
    /// What it said at its end; nothing where it was killed.
    said: Vec<Value>,
    trades: Value,
    report: Vec<Value>,
    parity: (Value, Value),
    verdicts: Value,
}

fn figures(run: &Value) -> Vec<Value> {
    SAID.iter().map(|key| run[key].clone()).collect()
}

/// A run that remembers what is over for so long, to its end or until it is killed right after a write.
fn run(remember_s: u32, killed: Option<&str>) -> Known {
    let folder = Folder::new()
        .with("bots.toml", &format!("{BOTS}{remember_s}\n"))
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 9 * HOUR))
        .with("EURUSD_1m.csv", &shipped("EURUSD_1m.csv", MONDAY, MONDAY + 9 * HOUR));
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "EURUSD_1m.csv", "--config", "bots.toml"];
    let live = ["live", "--sandbox", "--speed", "max", "--until-end", "--json", "--quiet"];
    let mut command = folder.command(&[&live[..], &data, &["--journal", "run.db"]].concat());
    let output = command.envs(killed.map(|point| ("JOURNAL_KILL_POINT", point))).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    let said = match killed {
        None => figures(&serde_json::from_str(last_document(&printed)).expect(&error)),
        Some(_) => Vec::new(),
    };
    assert_eq!(output.status.signal(), killed.map(|_| 9), "{error}");
    let asked = |command: &str| folder.run(&[command, "--journal", "run.db", "--json"]).json();
    let (parity, mut trades) = (asked("parity"), asked("trades"));
    // Two requests of one moment reach the venue in either order.
    for trade in trades.as_array_mut().unwrap() {
        trade["venue_id"] = Value::Null;
    }
    Known {
        said,
        trades,
        report: figures(&asked("report")),
        parity: (parity["ok"].clone(), parity["runs"].clone()),
        verdicts: asked("status")["verdicts"].clone(),
    }
}

#[test]
fn a_run_with_the_shortest_memory_is_from_outside_one_that_forgets_nothing() {
    for killed in [None, Some("after settled 200")] {
        let [few, all] = std::thread::scope(|scope| {
            [1, 0].map(|remember_s| scope.spawn(move || run(remember_s, killed))).map(|it| it.join().unwrap())
        });
        assert_eq!(few.parity, (Value::Bool(true), Value::from(1)));
        let trades = few.trades.as_array().unwrap().len();
        // The fifty that settled last are remembered in any case.
        assert!(trades >= 200, "{trades} trades");
        if killed.is_none() {
            assert!(few == all, "{:?} and {:?}", few.report, all.report);
            assert!(few.said == few.report, "what a run says at its end is what its journal has");
        } else {
            // Where two trades settle at one moment either may be the one that the run is killed at, and some entries more or
            // fewer are written by then; what was over long before is the same.
            let [few, all] = [few, all].map(|known| known.trades.as_array().unwrap()[..LONG_BEFORE].to_vec());
            assert_eq!(few, all);
            assert!(few.iter().all(|trade| trade["result"] != Value::Null), "{few:?}");
        }
    }
}
