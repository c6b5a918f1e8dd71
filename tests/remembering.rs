//! A run that forgets what is over as soon as it may, and one that forgets nothing: from outside they are the same, ended or killed.
#![cfg(all(unix, debug_assertions))]

use crate::candlewick::{Folder, last_document};
use crate::excerpt::{HOUR, MONDAY, shipped};
use crate::seconds;
use crate::serving::Served;
use crate::two_runs::{judged, run_until};
use candlewick_broker::clock::{Clock, SystemClock};
use serde_json::Value;
use sqlx::Connection as _;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

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

/// In a debug build this long stands for the twelve minutes that a run remembers at least, and for the day of a start.
const LEAST: (&str, &str) = ("LEAST_REMEMBERED_MS", "1500");
const BOTS_AT_ONCE: usize = 20;
/// Trades of the first run: a part of a snapshot has 250, and of what no part holds nothing is left in the journal. It ends by itself, since
/// a run that is killed in its first minute has said of nothing yet that it was verified, so that a start believes no snapshot of it.
const OF_FIRST: usize = 320;
/// Trades that settle until the second run is killed, and until the third ends: more than the fifty that stay in memory.
const UNTIL_KILLED: usize = OF_FIRST + 60;
const UNTIL_THIRD: usize = UNTIL_KILLED + 120;
const SETTINGS: &str = r#"
[risk]
max_open_trades = 0
max_open_trades_per_symbol = 0
max_trades_per_hour = 0
max_trades_per_day = 0
max_signal_delay_ms = 0
daily_loss_limit = 0
max_drawdown_percent = 0
max_loss_streak = 0
cooldown_after_loss_s = 0
cooldown_after_losses = 0
allow_opposite = true
allow_duplicate = true
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

/// A venue of its own, and bots on candles of one second, each on a symbol of its own, in this folder. The venue's clock is up to a second
/// off, so that candles may come half a second late, which is as late as a signal on them may be unless no limit is set.
fn busy() -> (Served, Folder) {
    let now = SystemClock::new().now().get() / 1_000 * 1_000;
    let (mut settings, mut folder, mut data) = (SETTINGS.to_owned(), Folder::new(), Vec::new());
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
    let folder = folder.with("bots.toml", &settings).with_variable(LEAST.0, LEAST.1);
    let (start, bots) = ((now + 1_000).to_string(), folder.path("bots.toml").to_string_lossy().into_owned());
    let served = ["--speed", "1", "--start", &start, "--config", &bots];
    let data = data.iter().map(String::as_str);
    let served = Served::start(&served.into_iter().chain(data).collect::<Vec<_>>());
    let folder = served.known_to(folder);
    (served, folder)
}

const LIVE: [&str; 7] = ["live", "--config", "bots.toml", "--journal", "run.db", "--json", "-v"];

/// A run that is killed once so many trades have settled.
fn killed_after(folder: &Folder, settled: usize) {
    let mut child: Child = folder.command(&LIVE).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let is_time = (0..1_500).any(|_| {
        std::thread::sleep(Duration::from_millis(200));
        judged(folder, "run.db") >= settled
    });
    child.kill().unwrap();
    assert_eq!((is_time, child.wait().unwrap().signal()), (true, Some(9)));
}

/// The tables become those of another journal, which lack the first trades.
fn give_tables_of_another_journal(folder: &Folder) {
    let statements = "UPDATE projection SET hash = (SELECT hash FROM entries WHERE seq = 1); DELETE FROM intents WHERE intent < 100";
    let address = format!("sqlite://{}", folder.path("run.db").display());
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let mut connection = sqlx::SqliteConnection::connect(&address).await.unwrap();
        sqlx::raw_sql(statements).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
}

/// What it has forgotten, and what its start has left in the journal, counts as if it had forgotten nothing.
#[test]
fn a_run_that_is_killed_and_started_again_forgets_and_says_what_its_journal_has() {
    let (_served, folder) = busy();
    let left_in = |stderr: &str| {
        let line = stderr.lines().find(|line| line.contains("are left in the journal"))?;
        line.split_whitespace().find_map(|word| word.parse::<usize>().ok())
    };
    let go_on = |settled: usize| {
        let run = run_until(&folder, &LIVE, || judged(&folder, "run.db") >= settled);
        let said: Value = serde_json::from_str(last_document(&run.stdout)).expect(&run.stderr);
        (left_in(&run.stderr), said)
    };
    let first = go_on(OF_FIRST);
    killed_after(&folder, UNTIL_KILLED);
    let third = go_on(UNTIL_THIRD);
    assert!(third.0 >= Some(100), "{:?} were left", third.0);
    give_tables_of_another_journal(&folder);
    let fourth = go_on(UNTIL_THIRD + 20);
    assert_eq!(fourth.0, None, "what tables of another journal lack is read");
    let asked = |words: &[&str]| folder.run(&[words, &["--journal", "run.db", "--json"]].concat()).json();
    for (number, (_, said)) in [("1", &first), ("3", &third), ("4", &fourth)] {
        assert_eq!(figures(said), figures(&asked(&["report", "--run", number])), "run {number}");
    }
    let parity = asked(&["parity"]);
    assert_eq!((&parity["ok"], &parity["runs"]), (&Value::Bool(true), &Value::from(4)), "{parity}");
    let verified = asked(&["journal", "verify"]);
    assert_eq!(verified["tables_up_to"], verified["entries"], "{verified}");
    // Of each trade there is one, and all that `status` counts without their rows is there.
    let trades = asked(&["trades"]);
    let settled: Vec<&Value> =
        trades.as_array().unwrap().iter().filter(|trade| trade["state"] == "settled").collect();
    let names: BTreeSet<&str> = settled.iter().map(|trade| trade["venue_id"].as_str().unwrap()).collect();
    let status = asked(&["status"]);
    assert_eq!((names.len(), &status["settled"]), (settled.len(), &Value::from(settled.len())));
}
