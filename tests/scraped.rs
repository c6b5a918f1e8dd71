//! Metrics, health and liveness of a run: figures match the journal, and no client blocks the run.

use crate::candlewick::Folder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

const POLL_INTERVAL: Duration = Duration::from_millis(50);

struct Scraped {
    folder: Folder,
    bot: Child,
    address: String,
    log: Arc<Mutex<String>>,
}

impl Scraped {
    fn start_in(folder: Folder) -> Self {
        let folder = folder.with_variable("CANDLEWICK_METRICS__LISTEN", "127.0.0.1:0");
        let mut command = folder.command(&["live", "--sandbox", "-v", "--journal", "run.db"]);
        let mut bot = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (found, address) = mpsc::channel();
        let stderr = BufReader::new(bot.stderr.take().unwrap());
        // Drain the pipe, so that the bot never blocks on a full one.
        let log = Arc::new(Mutex::new(String::new()));
        let all = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                all.lock().unwrap().push_str(&line);
                if let Some((_, address)) = line.split_once("metrics at http://") {
                    let _ = found.send(address.trim_end_matches("/metrics").to_owned());
                }
            }
        });
        Self { folder, bot, address: address.recv().expect("the bot prints its address"), log }
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.get_as(&self.address, path)
    }

    fn get_as(&self, host: &str, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        let mut answer = String::new();
        let read = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
        let (head, body) = read.ok().and_then(|_| answer.split_once("\r\n\r\n")).unwrap_or_default();
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
        (code, body.to_owned())
    }

    fn samples(&self) -> BTreeMap<String, f64> {
        let (code, text) = self.get("/metrics");
        assert_eq!(code, 200, "{text}");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let samples = lines.map(|line| line.rsplit_once(' ').unwrap());
        samples.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect()
    }

    fn status(&self) -> Value {
        self.folder.query("status", "run.db")
    }

    fn wait(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        while !is_so(self) {
            assert!(self.bot.try_wait().unwrap().is_none(), "the run ended before {what}");
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn trades(&self) -> Vec<Value> {
        let run = self.folder.run(&["trades", "--journal", "run.db", "--json"]);
        if run.code == 0 { run.json().as_array().unwrap().clone() } else { Vec::new() }
    }
}

impl Drop for Scraped {
    fn drop(&mut self) {
        let _ = self.bot.kill();
        let _ = self.bot.wait();
    }
}

fn sum(samples: &BTreeMap<String, f64>, name: &str, label: &str) -> f64 {
    let named = samples.iter().filter(|(key, _)| key.starts_with(name) && key.contains(label));
    named.map(|(_, value)| value).sum()
}

#[test]
fn scraped_metrics_match_the_journal() {
    let mut scraped = Scraped::start_in(Folder::new());
    let count = |trades: &[Value], key: &str, value: &str| {
        let is_it = |trade: &&Value| trade[key].as_str().is_some_and(|text| text.eq_ignore_ascii_case(value));
        trades.iter().filter(is_it).count()
    };
    scraped.wait("five trades settled", |scraped| count(&scraped.trades(), "state", "settled") >= 5);
    assert_eq!(scraped.get("/readyz").0, 200);
    assert_eq!(scraped.folder.run(&["halt", "--journal", "run.db", "--reason", "enough"]).code, 0);
    scraped.wait("nothing was open", |scraped| {
        let status = scraped.status();
        ["open", "in_flight"].iter().all(|key| status[key].as_array().is_some_and(Vec::is_empty))
    });
    let (trades, samples, status) = (scraped.trades(), scraped.samples(), scraped.status());
    let report = scraped.folder.query("report", "run.db");
    let check = |name: &str, label: &str, value: f64| {
        let found = sum(&samples, name, label);
        assert!((found - value).abs() < 1e-6, "{name} {label}: {found} instead of {value}");
    };
    check("candlewick_signals_total", "", trades.len() as f64);
    check("candlewick_balance", "", status["balance"].as_f64().unwrap());
    check("candlewick_phase{", "phase=\"halted\"", 1.0);
    check("candlewick_open_trades", "", 0.0);
    check("candlewick_doubts_open", "", 0.0);
    check("candlewick_price_streams{", "state=\"missed\"", 0.0);
    check("candlewick_opens_total", "\"opened\"", count(&trades, "state", "settled") as f64);
    check("candlewick_opens_total", "\"rejected\"", count(&trades, "state", "rejected") as f64);
    for outcome in ["won", "lost", "draw", "cancelled"] {
        let settled = count(&trades, "result", outcome) as f64;
        check("candlewick_settlements_total", &format!("outcome=\"{outcome}\""), settled);
    }
    for bot in report["bots"].as_array().unwrap() {
        let own = trades.iter().filter(|trade| trade["bot"] == bot["bot"]);
        let profit: f64 = own.filter_map(|trade| trade["pnl"].as_f64()).sum();
        check("candlewick_profit{", &format!("bot={}", bot["bot"]), profit);
    }
    let refused = report["refused"].as_object().unwrap().iter();
    for (rule, refused) in refused.filter(|(rule, _)| *rule != "Halted") {
        check("candlewick_refusals_total", &format!("rule=\"{rule}\""), refused.as_f64().unwrap());
    }
    let opens = samples["candlewick_request_duration_seconds_count{question=\"open\"}"];
    assert!(opens >= trades.len() as f64, "{opens}");
    assert!(samples["candlewick_journal_write_duration_seconds_count"] > 0.0);
    // A candle arrives after its close.
    let delays: Vec<_> =
        samples.iter().filter(|(name, _)| name.starts_with("candlewick_candle_delay_seconds{")).collect();
    assert!(!delays.is_empty() && delays.iter().all(|(_, delay)| **delay > 0.0), "{delays:?}");
    assert!(samples["candlewick_slowest_candle_delay_seconds"] > 0.0);
    assert!(status["bot"]["market"]["slowest_candle"]["delay_ms"].as_i64() > Some(0), "{status}");
    assert!(!samples.keys().any(|name| name.contains("intent") || name.contains("venue_id")), "{samples:?}");
    let codes = ["/healthz", "/readyz", "/", "/../etc/passwd"].map(|path| scraped.get(path).0);
    assert_eq!(codes, [200, 503, 404, 404]);
}

fn memory_kb(bot: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", bot.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn answer_heartbeats(listener: &TcpListener) {
    let elsewhere = "302 Found\r\nlocation: /elsewhere/secret";
    for status in ["204 No Content", elsewhere, elsewhere, "500 secret", "204 No Content"] {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 64];
        let length = stream.read(&mut head).unwrap();
        assert!(head[..length].starts_with(b"GET /ping/secret HTTP/1.1"), "{head:?}");
        let answer = format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n");
        stream.write_all(answer.as_bytes()).unwrap();
    }
}

const LOCK: &str = "import sqlite3,sys\nd=sqlite3.connect(sys.argv[1],isolation_level=None,timeout=60)\n\
    d.execute('BEGIN EXCLUSIVE')\nprint('held',flush=True)\nsys.stdin.read()";

#[test]
fn slow_clients_never_block_and_a_locked_journal_is_unhealthy() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/ping/secret", listener.local_addr().unwrap());
    let folder = Folder::new().with_variable("CANDLEWICK_HEARTBEAT__URL", &url);
    let mut scraped = Scraped::start_in(folder.with_variable("CANDLEWICK_HEARTBEAT__EVERY_S", "1"));
    answer_heartbeats(&listener);
    let log = scraped.log.lock().unwrap().clone();
    let problems = (log.matches("302 Found").count(), log.matches("500 Internal").count());
    assert_eq!((problems, log.contains("secret")), ((2, 1), false), "{log}");

    scraped.wait("a candle came", |scraped| sum(&scraped.samples(), "candlewick_candles_total", "") > 0.0);
    let before = memory_kb(&scraped.bot);
    let mut idle = Vec::new();
    for number in 0..1_000 {
        // The server may close a connection at once.
        let Ok(mut stream) = TcpStream::connect(&scraped.address) else { continue };
        if number % 2 == 0 {
            let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\nx: ");
        }
        idle.push(stream);
    }
    let trades = scraped.trades().len();
    scraped.wait("it traded on", |scraped| scraped.trades().len() > trades);
    let after = memory_kb(&scraped.bot);
    assert!(after < before + 20_000, "{before} kB before, {after} kB after");
    scraped.wait("a scraper was answered", |scraped| scraped.get("/healthz").0 == 200);
    assert_eq!(scraped.get_as("evil.example", "/metrics").0, 403);
    assert_eq!(scraped.samples()["candlewick_journal_writable"], 1.0);
    drop(idle);

    let mut python = Command::new("python3");
    python.args(["-c", LOCK]).arg(scraped.folder.path("run.db"));
    let mut lock = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    lock.stdout.take().unwrap().read_exact(&mut [0; 5]).unwrap();
    scraped.wait("its journal failed", |scraped| scraped.get("/healthz").0 == 503);
    assert!(scraped.get("/healthz").1.contains("journal"));
    drop(lock.stdin.take());
    assert!(lock.wait().unwrap().success());
    scraped.wait("it was healthy again", |scraped| scraped.get("/healthz").0 == 200);
}

#[cfg(target_os = "linux")]
#[test]
fn notifies_systemd_of_readiness_liveness_and_status() {
    let folder = Folder::new();
    let path = folder.path("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    let folder = folder.with_variable("NOTIFY_SOCKET", path.to_str().unwrap());
    let _scraped = Scraped::start_in(folder.with_variable("WATCHDOG_USEC", "400000"));
    let mut notified = String::new();
    while !notified.contains("STATUS=trading") || notified.matches("WATCHDOG=1").count() < 3 {
        let mut buffer = [0; 512];
        let length = socket.recv(&mut buffer).unwrap();
        notified.push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
    assert_eq!(notified.matches("READY=1\n").count(), 1, "{notified}");
}
