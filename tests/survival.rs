//! A bot killed around each kind of journal write: it restarts, and every trade of the venue is in its journal.
#![cfg(all(unix, debug_assertions))]

use crate::candlewick::Folder;
use crate::relay::Relay;
use crate::seconds;
use crate::serving::Served;
use crate::wire;
use candlewick_broker::clock::{Clock, SystemClock};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const SIGKILL: i32 = 9;
const SYMBOLS: [&str; 2] = ["BTCUSDT", "ETHUSDT"];
const MAX_OPEN: usize = 2;
const POLL_INTERVAL: Duration = Duration::from_millis(250);
const MAX_POLLS: u32 = 2_400;
const RUN_DURATION: &str = "600s";
const CANDLES: (i64, i64) = (600, 1_800);

/// Replies to opens are lost, and the list is late and unordered.
const LOSSES: &str = "drop-after:0.2,errors-after:0.1,list-lag:0.3:2s,shuffle,late-settlement:0.2:2s";

struct Point {
    name: &'static str,
    faults: &'static str,
    span: &'static str,
    past: Past,
    meanwhile: Downtime,
    settings: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Past {
    Nothing,
    Run,
    HaltFile,
}

#[derive(Clone, Copy, PartialEq)]
enum Downtime {
    Nothing,
    Resume,
    LoseConnection,
    /// Foreign trades change the balance of the account.
    TradeForeign,
}

const fn point(name: &'static str) -> Point {
    let (past, meanwhile) = (Past::Nothing, Downtime::Nothing);
    Point { name, faults: LOSSES, span: RUN_DURATION, past, meanwhile, settings: "" }
}

const SMALL_STAKES: &str = "[sandbox]\nmax_amount = 5\n";
const MANY_SNAPSHOTS: &str = "[runtime]\nsnapshot_every = 20\n";
const MANY_READINGS: &str = "[runtime]\nwallet_every_s = 5\nlist_lag_ms = 1000\n";

/// Points that every run reaches. The built-in strategies request no prices, so none are written.
const COMMON_POINTS: &str = "lease 1, run 1, day_opened 1, balance 1, candle 2, candle 9, refuse 1, refuse 5, open 1, open 2, open 4, opened 1, \
                     opened 3, settled 1, settled 2, verdict 1, exchange 2, exchange 9, beat 1, rows 2";
const DEPOSIT: Point = Point {
    faults: "none",
    past: Past::HaltFile,
    meanwhile: Downtime::TradeForeign,
    settings: MANY_READINGS,
    ..point("deposit 1")
};
const OTHER_POINTS: [Point; 15] = [
    Point { past: Past::Run, ..point("control-continue 1") },
    Point { past: Past::HaltFile, ..point("control-halt 1") },
    Point { past: Past::HaltFile, ..point("note 1") },
    Point { faults: "drop-after:0.6,list-lag:0.5:2s", ..point("in_doubt 1") },
    Point { faults: "drop-after:0.6,shuffle", ..point("adopted 1") },
    Point { faults: "errors:0.3", ..point("not_opened 1") },
    Point { span: "6s", ..point("control-suspend 1") },
    Point { span: "6s", ..point("release 1") },
    Point { meanwhile: Downtime::Resume, ..point("control-resume 1") },
    Point { meanwhile: Downtime::Resume, ..point("answer 1") },
    Point { settings: SMALL_STAKES, ..point("rejected 1") },
    Point { settings: MANY_SNAPSHOTS, ..point("snapshot 1") },
    // Rows of tables, before and after their transaction is committed.
    Point { past: Past::Run, ..point("rows 1") },
    Point { settings: MANY_SNAPSHOTS, past: Past::Run, ..point("snapshot 2") },
    Point { past: Past::HaltFile, meanwhile: Downtime::LoseConnection, ..point("not_sent 1") },
];

/// Written only if clocks of one machine disagree, or if the wallet is read while the answer to an order is missing.
const OPTIONAL_POINTS: [&str; 2] = ["skew", "wallet_difference"];

struct Fixture {
    folder: Folder,
    served: Served,
    foreign: Vec<String>,
}

impl Fixture {
    fn new(faults: &str, more: &str) -> Self {
        let now = SystemClock::new().now().get() / 1_000 * 1_000;
        let mut folder = Folder::new().with("bots.toml", &settings()).with("more.toml", more);
        for symbol in SYMBOLS {
            folder = folder.with(&format!("{symbol}_1s.csv"), &seconds::candles(now, CANDLES));
        }
        let path = |name: &str| folder.path(name).to_string_lossy().into_owned();
        let data = SYMBOLS.map(|symbol| path(&format!("{symbol}_1s.csv")));
        let configured = ["--config", &path("bots.toml"), "--config", &path("more.toml")];
        let served = serve(&[&configured[..], &["--data", &data[0], "--data", &data[1]]].concat(), faults);
        let folder = served.known_to(folder);
        Self { folder, served, foreign: Vec::new() }
    }

    fn command(&self, span: &str) -> Command {
        let configured = ["--config", "bots.toml", "--config", "more.toml"];
        let run = ["--journal", "run.db", "--for", span, "--json", "--quiet"];
        let mut command = self.folder.command(&[&["live"], &configured[..], &run].concat());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn act(&mut self, child: &mut Child, meanwhile: Downtime, connection: Option<Relay>) {
        if meanwhile == Downtime::Nothing {
            return;
        }
        let has_begun = (0..MAX_POLLS).any(|_| {
            std::thread::sleep(POLL_INTERVAL);
            self.is_recovered(child.id())
        });
        assert!(has_begun, "the run did not begin: {:?}", child.try_wait());
        if let Some(connection) = connection {
            connection.close();
        }
        if meanwhile == Downtime::TradeForeign {
            self.trade_foreign();
        } else {
            self.folder.run(&["resume", "--journal", "run.db"]);
        }
    }

    fn trade_foreign(&mut self) {
        let order = json!({
            "isDemo": true, "symbol": SYMBOLS[0], "direction": "BUY", "amount": 25, "closeType": "00:01",
            "expirationType": "TIME_FIXED",
        });
        let has_moved = (0..20).any(|_| {
            let id = self.served.open(&order);
            self.foreign.push(id.clone());
            let result = (0..MAX_POLLS).find_map(|_| {
                std::thread::sleep(POLL_INTERVAL);
                let list = listed(&self.served);
                let trade = list["data"].as_array().unwrap().iter().find(|trade| trade["id"] == *id)?.clone();
                ["WON", "LOST", "DRAW"].into_iter().find(|result| trade["result"] == *result)
            });
            result.expect("a trade of a second settles") != "DRAW"
        });
        assert!(has_moved, "twenty draws in a row");
    }

    fn ask(&self, command: &str) -> Value {
        self.folder.query(command, "run.db")
    }

    fn recover(&self, point: &str) {
        std::fs::write(self.folder.path("run.db.HALT"), "").unwrap();
        let mut child = self.command(RUN_DURATION).spawn().unwrap();
        let is_over = |trade: &Value| {
            let state = trade["state"].as_str().unwrap();
            ["settled", "rejected", "not_opened", "not_sent"].contains(&state)
        };
        let mut is_recovered = false;
        let settled = (0..MAX_POLLS).any(|_| {
            std::thread::sleep(POLL_INTERVAL);
            if let Some(status) = child.try_wait().unwrap() {
                let printed = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
                panic!("{point}: the restarted run ended with {status}: {printed}");
            }
            is_recovered = is_recovered || self.is_recovered(child.id());
            is_recovered
                && self.ask("trades").as_array().unwrap().iter().all(is_over)
                && (self.foreign.is_empty() || self.reported_money() == self.wallet())
        });
        assert!(settled, "{point}: {}", self.ask("trades"));
        assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{point}");
    }

    fn is_recovered(&self, process: u32) -> bool {
        let run = self.folder.run(&["status", "--journal", "run.db", "--json"]);
        run.code == 0 && {
            let status = run.json();
            status["holder"]["pid"] == u64::from(process) && !status["bot"].is_null()
        }
    }

    fn wallet(&self) -> f64 {
        let wallets = venue(&self.served, "/token/wallets");
        let demo = wallets.as_array().unwrap().iter().find(|wallet| wallet["type"] == "DEMO").unwrap();
        demo["balance"].as_f64().unwrap()
    }

    /// Returns the journal's balance with the reported wallet difference; a shortage found before the kill persists.
    fn reported_money(&self) -> f64 {
        let status = self.ask("status");
        let amounts = ["balance", "open_stakes", "wallet_difference"];
        amounts.iter().filter_map(|name| status[name].as_f64()).sum()
    }

    fn compare(&self, point: &str) {
        let list = listed(&self.served);
        let listed = list["data"].as_array().unwrap();
        let mut at_venue: BTreeMap<&str, &Value> =
            listed.iter().map(|trade| (trade["id"].as_str().unwrap(), trade)).collect();
        assert_eq!(at_venue.len() as u64, list["total"].as_u64().unwrap(), "{point}: {list}");
        assert_few_open(point, listed);
        let intents = self.ask("trades");
        let intents = intents.as_array().unwrap();
        let mut profit = 0.0;
        for intent in intents.iter().filter(|intent| intent["state"] == "settled") {
            let id = intent["venue_id"].as_str().unwrap();
            let trade = at_venue.remove(id).unwrap_or_else(|| panic!("{point}: twice or never: {intent}"));
            let keys = "symbol direction amount close_type=closeType close_time=closeTime result pnl";
            for key in keys.split(' ') {
                let (ours, theirs) = key.split_once('=').unwrap_or((key, key));
                assert_eq!(intent[ours], trade[theirs], "{point}: {ours} of {intent}");
            }
            profit += intent["pnl"].as_f64().unwrap();
        }
        for id in &self.foreign {
            profit += at_venue.remove(id.as_str()).unwrap()["pnl"].as_f64().unwrap();
        }
        assert!(at_venue.is_empty(), "{point}: no intent for {at_venue:?}, of {intents:?}");
        let balance = self.wallet();
        assert_eq!(self.reported_money(), balance, "{point}: {}", self.ask("status"));
        assert!((balance - 10_000.0 - profit).abs() < 1e-6, "{point}: {balance} after {profit}");
        let parity = self.ask("parity");
        assert_eq!(parity["ok"], true, "{point}: {parity}");
        let verified = self.ask("journal verify");
        assert_eq!(verified["tables_up_to"], verified["entries"], "{point}: {verified}");
    }
}

fn venue(served: &Served, path: &str) -> Value {
    let address = served.text("base_url").strip_prefix("http://").unwrap();
    let answer = (0..MAX_POLLS).find_map(|_| {
        let answer = wire::get(address, path, "api-token: sandbox-token", Duration::from_secs(2))?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        head.starts_with("HTTP/1.1 200").then(|| serde_json::from_str(body).ok())?
    });
    answer.unwrap_or_else(|| panic!("{path} was never answered"))
}

pub(crate) fn listed(served: &Served) -> Value {
    let user = venue(served, "/token/users/me")["id"].as_str().unwrap().to_owned();
    venue(served, &format!("/token/trades?page=1&pageSize=1000&userId={user}"))
}

/// Starts a venue on the clock of the machine, and again if it came up late on a busy machine.
fn serve(arguments: &[&str], faults: &str) -> Served {
    // One at a time, so that each comes up in time.
    static STARTING: Mutex<()> = Mutex::new(());
    let _turn = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    let clock = SystemClock::new();
    let mut lead = 300;
    let started = (0..100).find_map(|_| {
        let launched = clock.now().get();
        let start = (launched + lead).to_string();
        let timed = ["--speed", "1", "--start", &start, "--faults", faults];
        let served = Served::start(&[arguments, &timed].concat());
        let took = clock.now().get() - launched;
        let is_in_time = (took - lead).abs() < 200;
        lead = took;
        is_in_time.then_some(served)
    });
    started.expect("the sandbox started too late twice")
}

fn settings() -> String {
    let mut text = format!(
        "[broker]\ntimeout_ms = 1000\nretry_pause_ms = 50\n[risk]\nmax_open_trades = 0\n\
         max_open_trades_per_symbol = {MAX_OPEN}\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\n\
         max_trades_per_day = 0\nallow_opposite = true\nallow_duplicate = true\n\
         verdict = {{ alpha = 0.9, beta = 0.9, delta = 0.9 }}\n[simulation]\nlatency_ms = 0\n\
         open_rounding = \"none\"\nsettle_delay_ms = 200\n[runtime]\nsettle_after_ms = 200\nlist_lag_ms = 15000\n"
    );
    for (symbol, length) in SYMBOLS.into_iter().zip(["00:01", "00:03"]) {
        let _ = write!(
            text,
            "[[bots]]\nname = \"{symbol}\"\nsymbol = \"{symbol}\"\ninterval = \"1s\"\nstrategy = \"rsi-reversal\"\n\
             params = {{ period = 2, oversold = 45.0, overbought = 55.0 }}\nclose_type = \"{length}\"\n"
        );
    }
    text
}

fn assert_few_open(point: &str, trades: &[Value]) {
    let time = |trade: &Value, key: &str| trade[key].as_i64().unwrap();
    for trade in trades {
        let at = time(trade, "openTime");
        let is_open = |one: &&Value| {
            one["symbol"] == trade["symbol"] && time(one, "openTime") <= at && at < time(one, "closeTime")
        };
        assert!(trades.iter().filter(is_open).count() <= MAX_OPEN, "{point}: at {at}: {trades:?}");
    }
}

fn survive(point: &Point, side: &str) -> BTreeSet<String> {
    let mut fixture = Fixture::new(point.faults, point.settings);
    match point.past {
        Past::Nothing => {}
        Past::Run => assert_eq!(fixture.command("3s").spawn().unwrap().wait().unwrap().code(), Some(0)),
        Past::HaltFile => std::fs::write(fixture.folder.path("run.db.HALT"), "").unwrap(),
    }
    let printed = format!("{side} {}", point.name);
    let mut command = fixture.command(point.span);
    command.env("JOURNAL_KILL_POINT", &printed).env("JOURNAL_KILL_POINT_LOG", fixture.folder.path("writes"));
    let connection =
        (point.meanwhile == Downtime::LoseConnection).then(|| Relay::to(fixture.served.text("base_url")));
    if let Some(connection) = &connection {
        command.env("CANDLEWICK_BROKER__BASE_URL", &connection.url);
    }
    let mut child = command.spawn().unwrap();
    let stderr = std::thread::spawn({
        let pipe = child.stderr.take().unwrap();
        move || std::io::read_to_string(pipe).unwrap()
    });
    fixture.act(&mut child, point.meanwhile, connection);
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(SIGKILL), "{printed}: {status}: {}", stderr.join().unwrap());
    let written = fixture.folder.read("writes").split_whitespace().map(str::to_owned).collect();
    fixture.recover(&printed);
    fixture.compare(&printed);
    written
}

#[test]
fn recovers_from_a_kill_at_any_write() {
    let points: Vec<Point> =
        [DEPOSIT].into_iter().chain(COMMON_POINTS.split(", ").map(point)).chain(OTHER_POINTS).collect();
    let queue = Mutex::new(points.iter().flat_map(|point| [(point, "before"), (point, "after")]));
    let written = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let next = || queue.lock().unwrap().next();
                while let Some((point, side)) = next() {
                    let names = survive(point, side);
                    written.lock().unwrap().extend(names);
                }
            });
        }
    });
    let kinds = points.iter().map(|point| point.name.split(' ').next().unwrap()).chain(OPTIONAL_POINTS);
    let known: BTreeSet<String> = kinds.map(str::to_owned).collect();
    let missing: Vec<String> = written.into_inner().unwrap().difference(&known).cloned().collect();
    assert!(missing.is_empty(), "writes without a kill: {missing:?}");
}
