//! A bot killed while an open waits for its entry delay: after a restart the open is never sent, and the intent ends.
#![cfg(all(unix, debug_assertions))]

use crate::candlewick::Folder;
use crate::seconds::generate_candles;
use crate::serving::Served;
use crate::survival::listed;
use candlewick_broker::clock::{Clock, SystemClock};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

const SIGKILL: i32 = 9;
const CANDLE_MS: i64 = 10_000;
/// Nearly as long as a candle, so that even a busy machine starts a bot within it.
const DELAY_MS: i64 = 9_000;
const POLL_INTERVAL: Duration = Duration::from_millis(250);
const MAX_POLLS: u32 = 1_200;

const SETTINGS: &str = "[risk]\nmax_open_trades = 0\nmax_trades_per_day = 0\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\n\
    [runtime]\nlist_lag_ms = 1000\n[[bots]]\nname = \"later\"\nsymbol = \"BTCUSDT\"\ninterval = \"10s\"\nentry_delay_s = 9\n\
    strategy = \"rsi-reversal\"\nparams = { period = 2, oversold = 45.0, overbought = 55.0 }\nclose_type = \"00:05\"\n";

fn venue() -> (Folder, Served) {
    let now = SystemClock::new().now().get();
    let folder = Folder::new()
        .with("bots.toml", SETTINGS)
        .with("BTCUSDT_10s.csv", &generate_candles(CANDLE_MS, now / CANDLE_MS * CANDLE_MS, (60, 120)));
    let path = |name: &str| folder.path(name).to_string_lossy().into_owned();
    let (config, data, start) = (path("bots.toml"), path("BTCUSDT_10s.csv"), now.to_string());
    let served = Served::start(&["--config", &config, "--data", &data, "--speed", "1", "--start", &start]);
    (served.known_to(folder), served)
}

fn live(folder: &Folder) -> Command {
    let live = ["live", "--config", "bots.toml", "--journal", "run.db", "--for", "600s", "--json", "--quiet"];
    let mut command = folder.command(&live);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn never_sends_a_delayed_open_after_the_bot_was_killed() {
    let (folder, served) = venue();
    let status = live(&folder).env("JOURNAL_KILL_POINT", "after open 1").status().unwrap();
    assert_eq!(status.signal(), Some(SIGKILL), "{status}");
    assert_eq!(listed(&served)["total"], 0, "the delay must still be running");
    let mut again = live(&folder).spawn().unwrap();
    let has_ended = (0..MAX_POLLS).any(|_| {
        std::thread::sleep(POLL_INTERVAL);
        assert_eq!(again.try_wait().unwrap(), None, "the bot must still be running");
        folder.trades("run.db")[0]["state"] == "not_opened"
    });
    assert!(has_ended, "{:?}", folder.trades("run.db"));
    assert!(Command::new("kill").arg(again.id().to_string()).status().unwrap().success());
    assert_eq!(again.wait().unwrap().code(), Some(0));
    let (intents, list) = (folder.trades("run.db"), listed(&served));
    let trades = list["data"].as_array().unwrap();
    let decided = intents[0]["decision_time"].as_i64().unwrap();
    // The next candle's decision comes 10 seconds after this one, its request 19 seconds after it.
    let is_late = |trade: &Value| trade["requestTime"].as_i64().unwrap() >= decided + CANDLE_MS + DELAY_MS;
    assert!(trades.iter().all(is_late), "{trades:?} of {intents:?}");
    let opened = intents.iter().filter(|intent| !intent["venue_id"].is_null()).count();
    assert_eq!(trades.len(), opened, "{trades:?} of {intents:?}");
    let parity = folder.query("parity", "run.db");
    assert_eq!((&parity["ok"], &parity["unexplained"]), (&Value::from(true), &Value::from(0)), "{parity}");
}
