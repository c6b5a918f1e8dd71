//! Runs that evict old trades as early as possible, are killed and restarted, and still report complete results.
#![cfg(all(unix, debug_assertions))]

use crate::candlewick::{Folder, NO_LIMITS};
use crate::consecutive_runs::{judged, run_until};
use crate::recording::execute;
use crate::seconds;
use crate::serving::Served;
use candlewick_broker::clock::{Clock, SystemClock};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

fn figures(report: &Value) -> Vec<Value> {
    let keys = ["candles", "trades", "won", "lost", "refused", "pnl", "final_balance", "bots"];
    keys.iter().map(|key| report[key].clone()).collect()
}

/// In a debug build, replaces the minimum retention of a run (twelve minutes) and of a start (one day).
const MIN_RETENTION: (&str, &str) = ("LEAST_REMEMBERED_MS", "1500");
const BOTS_AT_ONCE: usize = 20;
/// More than the 250 of a snapshot part. This run is not killed: a start trusts no snapshot of its first minute.
const FIRST_RUN_TRADES: usize = 320;
/// Trades until the second run is killed and until the third ends: more than the fifty kept in memory.
const SECOND_RUN_TRADES: usize = FIRST_RUN_TRADES + 60;
const THIRD_RUN_TRADES: usize = SECOND_RUN_TRADES + 120;
const SETTINGS: &str = r#"
max_signal_delay_ms = 0
[broker]
requests_per_second = 0
[simulation]
latency_ms = 0
open_rounding = "none"
settle_delay_ms = 200
[runtime]
settle_after_ms = 200
watch_prices = false
audit_settlement_prices = false
snapshot_every = 100
list_every_s = 1
remember_s = 1
"#;

fn start_busy_venue() -> (Served, Folder) {
    let now = SystemClock::new().now().get() / 1_000 * 1_000;
    let (mut settings, mut folder, mut data) = (format!("{NO_LIMITS}{SETTINGS}"), Folder::new(), Vec::new());
    for bot in 0..BOTS_AT_ONCE {
        let symbol = format!("S{bot:02}USD");
        write!(
            settings,
            "[[bots]]\nname = \"bot-{bot}\"\nsymbol = \"{symbol}\"\ninterval = \"1s\"\nstrategy = \"coin\"\n\
             params = {{ seed = {bot}, share = 0.9 }}\nclose_type = \"00:01\"\nstake = {{ kind = \"fixed\", amount = 1 }}\n"
        )
        .unwrap();
        let candles = format!("{symbol}_1s.csv");
        folder = folder.with(&candles, &seconds::candles(now, (600, 1_800)));
        data.extend(["--data".to_owned(), folder.path(&candles).to_string_lossy().into_owned()]);
    }
    let folder = folder.with("bots.toml", &settings).with_variable(MIN_RETENTION.0, MIN_RETENTION.1);
    let (start, bots) = ((now + 1_000).to_string(), folder.path("bots.toml").to_string_lossy().into_owned());
    let served = ["--speed", "1", "--start", &start, "--config", &bots];
    let data = data.iter().map(String::as_str);
    let served = Served::start(&served.into_iter().chain(data).collect::<Vec<_>>());
    let folder = served.known_to(folder);
    (served, folder)
}

const LIVE: [&str; 7] = ["live", "--config", "bots.toml", "--journal", "run.db", "--json", "-v"];

fn killed_after(folder: &Folder, settled: usize) {
    let mut child: Child = folder.command(&LIVE).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let is_time = (0..1_500).any(|_| {
        std::thread::sleep(Duration::from_millis(200));
        judged(folder, "run.db") >= settled
    });
    child.kill().unwrap();
    assert_eq!((is_time, child.wait().unwrap().signal()), (true, Some(9)));
}

const TABLES_OF_ANOTHER_JOURNAL: &str = "UPDATE projection SET hash = (SELECT hash FROM entries WHERE seq = 1); \
    DELETE FROM intents WHERE intent < 100";

#[test]
fn killed_and_restarted_runs_evict_trades_but_report_the_whole_journal() {
    let (_served, folder) = start_busy_venue();
    let left_in = |stderr: &str| {
        let line = stderr.lines().find(|line| line.contains("stored only in the journal"))?;
        line.split_whitespace().find_map(|word| word.parse::<usize>().ok())
    };
    let go_on = |settled: usize| {
        let run = run_until(&folder, &LIVE, || judged(&folder, "run.db") >= settled);
        (left_in(&run.stderr), run.json())
    };
    let first = go_on(FIRST_RUN_TRADES);
    killed_after(&folder, SECOND_RUN_TRADES);
    let third = go_on(THIRD_RUN_TRADES);
    assert!(third.0 >= Some(100), "{:?} were left", third.0);
    execute(&folder.path("run.db"), TABLES_OF_ANOTHER_JOURNAL);
    let fourth = go_on(THIRD_RUN_TRADES + 20);
    assert_eq!(fourth.0, None, "rows missing in tables of another journal must be read");
    let asked = |command: &str| folder.query(command, "run.db");
    for (number, (_, report)) in [("1", &first), ("3", &third), ("4", &fourth)] {
        assert_eq!(figures(report), figures(&asked(&format!("report --run {number}"))), "run {number}");
    }
    let parity = asked("parity");
    assert_eq!((&parity["ok"], &parity["runs"]), (&Value::Bool(true), &Value::from(4)), "{parity}");
    let verified = asked("journal verify");
    assert_eq!(verified["tables_up_to"], verified["entries"], "{verified}");
    // Each trade exists once, and `status` counts those without rows, too.
    let trades = asked("trades");
    let settled = trades.as_array().unwrap().iter().filter(|trade| trade["state"] == "settled");
    let ids: Vec<&str> = settled.map(|trade| trade["venue_id"].as_str().unwrap()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    assert_eq!(asked("status")["settled"], ids.len());
}
