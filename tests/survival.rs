//! A bot is killed, by SIGKILL, at each kind of write of its journal in turn, right before and right after it is
//! durable, while the venue loses replies and shows its list late; it is started again, and nothing is lost.
//!
//! What was opened is read from the venue over a socket of the test's own and held against the journal, trade by trade.
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
/// Trades that may be open together on a symbol.
const MAX_OPEN: usize = 2;
/// How often what is waited for is looked for, and how often at most.
const LOOK_EVERY: Duration = Duration::from_millis(250);
const MAX_LOOKS: u32 = 2_400;
/// How long a run goes on by itself, longer than any should have to on a busy machine.
const LONG: &str = "600s";
/// For how many seconds before and after the present the venue has candles: for longer than both runs may take.
const CANDLES: (i64, i64) = (600, 1_800);

/// Replies to opens are lost, the list is late and in no order.
const LOSSES: &str = "drop-after:0.2,errors-after:0.1,list-lag:0.3:2s,shuffle,late-settlement:0.2:2s";

/// A kind of write, which of them, and the faults that bring it about.
struct Point {
    name: &'static str,
    count: u32,
    faults: &'static str,
    /// How long the run that is to be killed goes on by itself.
    span: &'static str,
    past: Past,
    meanwhile: Meanwhile,
    /// Settings of the venue and the bot over the usual ones.
    settings: &'static str,
}

/// What there is before the run that is to be killed.
#[derive(Clone, Copy, PartialEq)]
enum Past {
    Nothing,
    /// A run that ended cleanly.
    Run,
    /// The file that halts.
    HaltFile,
}

/// What is done when the run that is to be killed has begun.
#[derive(Clone, Copy, PartialEq)]
enum Meanwhile {
    Nothing,
    /// A person resumes it.
    Resume,
    /// Its way to the trading API is lost, and a person resumes it.
    LoseWay,
    /// A stranger trades on its account, and the money of that comes or goes.
    Stranger,
}

const fn point(name: &'static str, count: u32) -> Point {
    let (past, meanwhile) = (Past::Nothing, Meanwhile::Nothing);
    Point { name, count, faults: LOSSES, span: LONG, past, meanwhile, settings: "" }
}

/// The largest stake that the venue takes is smaller than the bots'.
const SMALL_STAKES: &str = "[sandbox]\nmax_amount = 5\n";
/// A snapshot is kept after every few entries.
const MANY_SNAPSHOTS: &str = "[runtime]\nsnapshot_every = 20\n";
/// The wallet is read often, so that money that nothing explains is booked in little more than a minute.
const MANY_READINGS: &str = "[runtime]\nwallet_every_s = 5\nlist_lag_ms = 1000\n";

/// All that a run of the built-in strategies writes: none of them asks for prices, so none is written.
const POINTS: [Point; 36] = [
    // First, as it takes longest.
    Point {
        faults: "none",
        past: Past::HaltFile,
        meanwhile: Meanwhile::Stranger,
        settings: MANY_READINGS,
        ..point("deposit", 1)
    },
    point("lease", 1),
    point("run", 1),
    point("day_opened", 1),
    point("balance", 1),
    Point { past: Past::Run, ..point("control-continue", 1) },
    Point { past: Past::HaltFile, ..point("control-halt", 1) },
    Point { past: Past::HaltFile, ..point("note", 1) },
    point("candle", 2),
    point("candle", 9),
    point("refuse", 1),
    point("refuse", 5),
    point("open", 1),
    point("open", 2),
    point("open", 4),
    point("opened", 1),
    point("opened", 3),
    point("settled", 1),
    point("settled", 2),
    point("verdict", 1),
    point("exchange", 2),
    point("exchange", 9),
    point("beat", 1),
    Point { faults: "drop-after:0.6,list-lag:0.5:2s", ..point("in_doubt", 1) },
    Point { faults: "drop-after:0.6,shuffle", ..point("adopted", 1) },
    Point { faults: "errors:0.3", ..point("not_opened", 1) },
    Point { span: "6s", ..point("control-suspend", 1) },
    Point { span: "6s", ..point("release", 1) },
    Point { meanwhile: Meanwhile::Resume, ..point("control-resume", 1) },
    Point { meanwhile: Meanwhile::Resume, ..point("answer", 1) },
    Point { settings: SMALL_STAKES, ..point("rejected", 1) },
    Point { settings: MANY_SNAPSHOTS, ..point("snapshot", 1) },
    // Rows of the tables, when their transaction is written and not yet committed, and when it is.
    point("rows", 2),
    Point { past: Past::Run, ..point("rows", 1) },
    // The one that is killed began at a snapshot, and so does the one after it.
    Point { settings: MANY_SNAPSHOTS, past: Past::Run, ..point("snapshot", 2) },
    Point { past: Past::HaltFile, meanwhile: Meanwhile::LoseWay, ..point("not_sent", 1) },
];

/// Written only when the clocks of one machine are seen to disagree, or when the wallet is read while the answer to an order is missing.
const BY_CHANCE: [&str; 2] = ["skew", "wallet_difference"];

/// What was found after a recovery.
struct Recovered {
    intents: usize,
    trades: usize,
    balance: f64,
}

/// A venue and a bot on it.
struct Fixture {
    folder: Folder,
    served: Served,
    /// Trades of others on the account.
    strangers: Vec<String>,
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
        Self { folder, served, strangers: Vec::new() }
    }

    fn command(&self, span: &str) -> Command {
        let configured = ["--config", "bots.toml", "--config", "more.toml"];
        let run = ["--journal", "run.db", "--for", span, "--json", "--quiet"];
        let mut command = self.folder.command(&[&["live"], &configured[..], &run].concat());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// To be killed at a point; a way to the trading API of its own can be lost.
    fn start_to_die(&self, span: &str, point: &str, way: Option<&Relay>) -> Child {
        let mut command = self.command(span);
        command.env("JOURNAL_KILL_POINT", point).env("JOURNAL_KILL_POINT_LOG", self.folder.path("writes"));
        if let Some(way) = way {
            command.env("CANDLEWICK_BROKER__BASE_URL", &way.url);
        }
        command.spawn().unwrap()
    }

    /// What is done when the run has begun; it may die of it.
    fn meddle(&mut self, child: &mut Child, meanwhile: Meanwhile, way: Option<Relay>) {
        if meanwhile == Meanwhile::Nothing {
            return;
        }
        let begun = (0..MAX_LOOKS).any(|_| {
            std::thread::sleep(LOOK_EVERY);
            self.is_recovered(child.id())
        });
        assert!(begun, "the run that is to be killed did not begin: {:?}", child.try_wait());
        if let Some(way) = way {
            way.close();
        }
        if meanwhile == Meanwhile::Stranger {
            self.let_stranger_trade();
        } else {
            self.folder.run(&["resume", "--journal", "run.db"]);
        }
    }

    /// Somebody else trades until money has come or gone by it.
    fn let_stranger_trade(&mut self) {
        let order = json!({
            "isDemo": true, "symbol": SYMBOLS[0], "direction": "BUY", "amount": 25, "closeType": "00:01",
            "expirationType": "TIME_FIXED",
        });
        let has_moved = (0..20).any(|_| {
            let id = self.served.open(&order);
            self.strangers.push(id.clone());
            let result = (0..MAX_LOOKS).find_map(|_| {
                std::thread::sleep(LOOK_EVERY);
                let list = self.listed();
                let trade = list["data"].as_array().unwrap().iter().find(|trade| trade["id"] == *id)?.clone();
                ["WON", "LOST", "DRAW"].into_iter().find(|result| trade["result"] == *result)
            });
            result.expect("a trade of a second settles") != "DRAW"
        });
        assert!(has_moved, "twenty draws in a row");
    }

    fn ask(&self, command: &str) -> Value {
        self.folder.run(&[command, "--journal", "run.db", "--json"]).json()
    }

    /// Asks the venue until its faults let an answer through.
    fn venue(&self, path: &str) -> Value {
        let address = self.served.text("base_url").strip_prefix("http://").unwrap();
        let answer = (0..MAX_LOOKS).find_map(|_| {
            let answer = wire::get(address, path, "api-token: sandbox-token", Duration::from_secs(2))?;
            let (head, body) = answer.split_once("\r\n\r\n")?;
            head.starts_with("HTTP/1.1 200").then(|| serde_json::from_str(body).ok())?
        });
        answer.unwrap_or_else(|| panic!("{path} was never answered"))
    }

    /// Starts again, with opens halted, and waits until nothing is under way any more; a person does nothing.
    fn recover(&self, point: &str) {
        std::fs::write(self.folder.path("run.db.HALT"), "").unwrap();
        let mut child = self.command(LONG).spawn().unwrap();
        let is_over = |trade: &Value| {
            let state = trade["state"].as_str().unwrap();
            ["settled", "rejected", "not_opened", "not_sent"].contains(&state)
        };
        let mut is_recovered = false;
        let settled = (0..MAX_LOOKS).any(|_| {
            std::thread::sleep(LOOK_EVERY);
            if let Some(status) = child.try_wait().unwrap() {
                let printed = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
                panic!("{point}: the restarted run ended with {status}: {printed}");
            }
            // Once it holds the journal it holds it until its end.
            is_recovered = is_recovered || self.is_recovered(child.id());
            is_recovered
                && self.ask("trades").as_array().unwrap().iter().all(is_over)
                // Money that nothing explains is believed when it has been seen for a while.
                && (self.strangers.is_empty() || self.reported_money() == self.wallet())
        });
        assert!(settled, "{point}: {}", self.ask("trades"));
        assert!(std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{point}");
    }

    /// Whether this process holds the journal and has begun its run. Until then there may be nothing to read.
    fn is_recovered(&self, process: u32) -> bool {
        let run = self.folder.run(&["status", "--journal", "run.db", "--json"]);
        run.code == 0 && {
            let status = run.json();
            status["holder"]["pid"] == u64::from(process) && !status["bot"].is_null()
        }
    }

    /// All trades of the account.
    fn listed(&self) -> Value {
        let user = self.venue("/token/users/me")["id"].as_str().unwrap().to_owned();
        self.venue(&format!("/token/trades?page=1&pageSize=1000&userId={user}"))
    }

    /// What the venue's wallet holds.
    fn wallet(&self) -> f64 {
        let wallets = self.venue("/token/wallets");
        let demo = wallets.as_array().unwrap().iter().find(|wallet| wallet["type"] == "DEMO").unwrap();
        demo["balance"].as_f64().unwrap()
    }

    /// What the wallet holds by the journal. The stake of an intent that was not opened stays reserved for a while.
    fn reported_money(&self) -> f64 {
        let status = self.ask("status");
        status["balance"].as_f64().unwrap() + status["open_stakes"].as_f64().unwrap()
    }

    /// One venue trade for each intent that became one, none besides, each profit the venue's, the money the wallet's.
    fn compare(&self, point: &str) -> Recovered {
        let list = self.listed();
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
            for (ours, theirs) in [
                ("symbol", "symbol"),
                ("direction", "direction"),
                ("amount", "amount"),
                ("close_type", "closeType"),
                ("close_time", "closeTime"),
                ("result", "result"),
                ("pnl", "pnl"),
            ] {
                assert_eq!(intent[ours], trade[theirs], "{point}: {ours} of {intent}");
            }
            profit += intent["pnl"].as_f64().unwrap();
        }
        for id in &self.strangers {
            profit += at_venue.remove(id.as_str()).unwrap()["pnl"].as_f64().unwrap();
        }
        assert!(at_venue.is_empty(), "{point}: nobody wanted {at_venue:?}, of {intents:?}");
        let balance = self.wallet();
        assert_eq!(self.reported_money(), balance, "{point}: {}", self.ask("status"));
        assert!((balance - 10_000.0 - profit).abs() < 1e-6, "{point}: {balance} after {profit}");
        let parity = self.ask("parity");
        assert_eq!(parity["ok"], true, "{point}: {parity}");
        let verified = self.folder.run(&["journal", "verify", "--journal", "run.db", "--json"]).json();
        assert_eq!(verified["tables_up_to"], verified["entries"], "{point}: {verified}");
        Recovered { intents: intents.len(), trades: listed.len(), balance }
    }
}

/// A venue whose clock is the machine's: one that came up late, on a busy machine, is started again.
fn serve(arguments: &[&str], faults: &str) -> Served {
    // One after the other, so that each comes up in time.
    static STARTING: Mutex<()> = Mutex::new(());
    let _turn = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    let clock = SystemClock::new();
    // How long it takes to come up, as the last attempt shows.
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
    started.expect("a sandbox comes up in the same time twice")
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

/// At no moment were more trades open on a symbol than the limit allows.
fn assert_few_open(point: &str, trades: &[Value]) {
    let time = |trade: &Value, key: &str| trade[key].as_i64().unwrap();
    for trade in trades {
        let at = time(trade, "openTime");
        let is_open = |other: &&Value| {
            other["symbol"] == trade["symbol"]
                && time(other, "openTime") <= at
                && at < time(other, "closeTime")
        };
        assert!(trades.iter().filter(is_open).count() <= MAX_OPEN, "{point}: at {at}: {trades:?}");
    }
}

/// Kills at the point, recovers, compares; also returns what was written until then.
fn survive(point: &Point, side: &str) -> (Recovered, BTreeSet<String>) {
    let mut fixture = Fixture::new(point.faults, point.settings);
    match point.past {
        Past::Nothing => {}
        Past::Run => assert_eq!(fixture.command("3s").spawn().unwrap().wait().unwrap().code(), Some(0)),
        Past::HaltFile => std::fs::write(fixture.folder.path("run.db.HALT"), "").unwrap(),
    }
    let printed = format!("{side} {} {}", point.name, point.count);
    let way = (point.meanwhile == Meanwhile::LoseWay).then(|| Relay::to(fixture.served.text("base_url")));
    let mut child = fixture.start_to_die(point.span, &printed, way.as_ref());
    let stderr = std::thread::spawn({
        let pipe = child.stderr.take().unwrap();
        move || std::io::read_to_string(pipe).unwrap()
    });
    fixture.meddle(&mut child, point.meanwhile, way);
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(SIGKILL), "{printed}: {status}: {}", stderr.join().unwrap());
    let written = fixture.folder.read("writes").split_whitespace().map(str::to_owned).collect();
    fixture.recover(&printed);
    (fixture.compare(&printed), written)
}

#[test]
fn killed_at_any_write_a_run_recovers_by_itself() {
    let cases = POINTS.iter().flat_map(|point| [(point, "before"), (point, "after")]);
    let queue = Mutex::new(cases);
    let next = || queue.lock().unwrap().next();
    let (rows, written) = (Mutex::new(Vec::new()), Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                while let Some((point, side)) = next() {
                    let (recovered, names) = survive(point, side);
                    let Recovered { intents, trades, balance } = recovered;
                    let row = format!("{side:>6} {:16} {intents:7} {trades:6} {balance:9.2}", point.name);
                    rows.lock().unwrap().push((point.name, point.count, row));
                    written.lock().unwrap().extend(names);
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort();
    println!("killed at                intents trades   balance");
    for (.., row) in &rows {
        println!("{row}");
    }
    let named = POINTS.iter().map(|point| point.name).chain(BY_CHANCE);
    let known: BTreeSet<String> = named.map(str::to_owned).collect();
    let strangers: Vec<String> = written.into_inner().unwrap().difference(&known).cloned().collect();
    assert!(strangers.is_empty(), "written, and nobody was killed there: {strangers:?}");
}
