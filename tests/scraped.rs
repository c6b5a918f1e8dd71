//! A run as a scraper sees it: the figures are those of its journal, and no scraper holds it up.

use crate::candlewick::Folder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// How often something is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A bot that is scraped; it is ended with the test.
struct Scraped {
    folder: Folder,
    bot: Child,
    address: String,
    /// What it said on stderr so far.
    said: Arc<Mutex<String>>,
}

impl Scraped {
    fn start() -> Self {
        Self::start_in(Folder::new())
    }

    fn start_in(folder: Folder) -> Self {
        let folder = folder.with_variable("CANDLEWICK_METRICS__LISTEN", "127.0.0.1:0");
        let mut command = folder.command(&["live", "--sandbox", "-v", "--journal", "run.db"]);
        let mut bot = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (found, address) = mpsc::channel();
        let stderr = BufReader::new(bot.stderr.take().unwrap());
        // Read to its end, so that nobody waits for it to be read.
        let said = Arc::new(Mutex::new(String::new()));
        let all = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                all.lock().unwrap().push_str(&line);
                if let Some((_, address)) = line.split_once("metrics at http://") {
                    let _ = found.send(address.trim_end_matches("/metrics").to_owned());
                }
            }
        });
        Self { folder, bot, address: address.recv().expect("it says where"), said }
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.get_as(&self.address, path)
    }

    fn get_as(&self, host: &str, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        let mut answer = String::new();
        let read = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
        if read.is_err() {
            return (0, String::new());
        }
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
        (code, body.to_owned())
    }

    /// The samples of a scrape, by their names with labels.
    fn samples(&self) -> BTreeMap<String, f64> {
        let (code, text) = self.get("/metrics");
        assert_eq!(code, 200, "{text}");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let sample = |line: &str| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        };
        lines.map(sample).collect()
    }

    fn status(&self) -> Value {
        self.folder.run(&["status", "--journal", "run.db", "--json"]).json()
    }

    fn wait(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        while !is_so(self) {
            assert!(self.bot.try_wait().unwrap().is_none(), "it ended before {what}");
            std::thread::sleep(LOOK_EVERY);
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

/// The sum of the samples whose names begin and go on so.
fn sum(samples: &BTreeMap<String, f64>, name: &str, label: &str) -> f64 {
    let named = samples.iter().filter(|(key, _)| key.starts_with(name) && key.contains(label));
    named.map(|(_, value)| value).sum()
}

#[test]
fn what_is_scraped_is_what_the_journal_says() {
    let mut scraped = Scraped::start();
    let settled = |trades: &[Value]| trades.iter().filter(|trade| trade["state"] == "settled").count();
    scraped.wait("five trades settled", |scraped| settled(&scraped.trades()) >= 5);
    assert_eq!(scraped.get("/readyz"), (200, "ok\n".to_owned()));
    assert_eq!(scraped.folder.run(&["halt", "--journal", "run.db", "--reason", "enough"]).code, 0);
    let is_quiet = |scraped: &Scraped| {
        let status = scraped.status();
        status["open"].as_array().is_some_and(Vec::is_empty)
            && status["in_flight"].as_array().is_some_and(Vec::is_empty)
    };
    scraped.wait("nothing was open", is_quiet);
    let (trades, samples) = (scraped.trades(), scraped.samples());
    let count = |state: &str| trades.iter().filter(|trade| trade["state"] == state).count() as f64;
    assert_eq!(sum(&samples, "candlewick_signals_total", ""), trades.len() as f64);
    assert_eq!(sum(&samples, "candlewick_opens_total", "\"opened\""), count("settled"));
    assert_eq!(sum(&samples, "candlewick_opens_total", "\"rejected\""), count("rejected"));
    for outcome in ["won", "lost", "draw", "cancelled"] {
        let journalled = trades.iter().filter(|trade| {
            trade["result"].as_str().is_some_and(|result| result.eq_ignore_ascii_case(outcome))
        });
        let label = format!("outcome=\"{outcome}\"");
        assert_eq!(
            sum(&samples, "candlewick_settlements_total", &label),
            journalled.count() as f64,
            "{outcome}"
        );
    }
    for bot in
        trades.iter().filter_map(|trade| trade["bot"].as_str()).collect::<std::collections::BTreeSet<_>>()
    {
        let label = format!("bot=\"{bot}\"");
        let profit: f64 =
            trades.iter().filter(|trade| trade["bot"] == bot).filter_map(|trade| trade["pnl"].as_f64()).sum();
        assert!((sum(&samples, "candlewick_profit{", &label) - profit).abs() < 1e-6, "{bot}");
    }
    let status = scraped.status();
    assert_eq!(samples["candlewick_balance"], status["balance"].as_f64().unwrap());
    assert_eq!(samples["candlewick_phase{phase=\"halted\"}"], 1.0);
    assert_eq!((samples["candlewick_open_trades"], samples["candlewick_doubts_open"]), (0.0, 0.0));
    assert!(samples["candlewick_request_duration_seconds_count{question=\"open\"}"] >= trades.len() as f64);
    assert!(samples["candlewick_journal_write_duration_seconds_count"] > 0.0);
    // No candle is here before it has closed.
    let delays = samples.iter().filter(|(name, _)| name.starts_with("candlewick_candle_delay_seconds{"));
    assert!(delays.clone().count() > 0 && delays.clone().all(|(_, delay)| *delay > 0.0), "{delays:?}");
    assert!(samples["candlewick_slowest_candle_delay_seconds"] > 0.0);
    assert!(status["bot"]["market"]["slowest_candle"]["delay_ms"].as_i64().is_some_and(|delay| delay > 0));
    assert_eq!(samples["candlewick_price_streams{state=\"missed\"}"], 0.0);
    assert!(!samples.keys().any(|name| name.contains("intent") || name.contains("venue_id")), "{samples:?}");
    // A halted run lives, and is not ready to trade.
    assert_eq!(scraped.get("/healthz").0, 200);
    let (code, text) = scraped.get("/readyz");
    assert_eq!((code, text.as_str()), (503, "the run is halted\n"));
    assert_eq!((scraped.get("/").0, scraped.get("/../etc/passwd").0), (404, 404));
    // What was refused by the rules, but for the halt, which goes on to refuse.
    let report = scraped.folder.run(&["report", "--journal", "run.db", "--json"]).json();
    for (rule, refused) in report["refused"].as_object().unwrap().iter().filter(|(rule, _)| *rule != "Halted")
    {
        let label = format!("rule=\"{rule}\"");
        assert_eq!(Some(sum(&samples, "candlewick_refusals_total", &label)), refused.as_f64(), "{rule}");
    }
}

#[test]
fn idle_and_slow_scrapers_hold_nothing_up_and_take_no_memory() {
    let mut scraped = Scraped::start();
    scraped.wait("a candle came", |scraped| sum(&scraped.samples(), "candlewick_candles_total", "") > 0.0);
    let memory = |bot: &Child| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", bot.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let before = memory(&scraped.bot);
    let mut idle = Vec::new();
    for number in 0..1_000 {
        // One that is let go at once may be gone before it is written to.
        let Ok(mut stream) = TcpStream::connect(&scraped.address) else { continue };
        if number % 2 == 0 {
            let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\nx: ");
        }
        idle.push(stream);
    }
    let trades = scraped.trades().len();
    scraped.wait("it traded on", |scraped| scraped.trades().len() > trades);
    assert!(memory(&scraped.bot) < before + 20_000, "{before} kB before, {} kB after", memory(&scraped.bot));
    // Those that say nothing are let go, and the next scraper is answered.
    scraped.wait("a scraper was answered", |scraped| scraped.get("/healthz").0 == 200);
    let (code, text) = scraped.get_as("evil.example", "/metrics");
    assert_eq!((code, text.contains("candlewick_")), (403, false), "{text}");
    assert_eq!(scraped.samples()["candlewick_journal_writable"], 1.0);
    drop(idle);
}

#[test]
fn health_is_bad_while_the_run_stands_still_or_its_journal_cannot_be_written() {
    let mut scraped = Scraped::start();
    scraped.wait("it was ready", |scraped| scraped.get("/readyz").0 == 200);
    let journal = scraped.folder.path("run.db");
    let lock = Command::new("python3")
        .args(["-c", "import sqlite3,sys\nd=sqlite3.connect(sys.argv[1],isolation_level=None,timeout=60)\nd.execute('BEGIN EXCLUSIVE')\nprint('held',flush=True)\nsys.stdin.read()"])
        .arg(&journal)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut lock = lock.unwrap();
    let mut held = [0; 5];
    lock.stdout.take().unwrap().read_exact(&mut held).unwrap();
    scraped.wait("its journal failed", |scraped| {
        let (code, text) = scraped.get("/healthz");
        code == 503 && text.contains("the journal cannot be written")
    });
    drop(lock.stdin.take());
    assert!(lock.wait().unwrap().success());
    scraped.wait("it was healthy again", |scraped| scraped.get("/healthz").0 == 200);
}

#[test]
fn a_sign_of_life_is_given_again_and_again_and_nobody_waits_for_one_that_is_not_taken() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/ping/secret", listener.local_addr().unwrap());
    let folder = Folder::new().with_variable("CANDLEWICK_HEARTBEAT__URL", &url);
    let mut scraped = Scraped::start_in(folder.with_variable("CANDLEWICK_HEARTBEAT__EVERY_S", "1"));
    let elsewhere = "302 Found\r\nlocation: /elsewhere/secret";
    for status in ["204 No Content", elsewhere, elsewhere, "500 secret", "204 No Content"] {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 64];
        let length = stream.read(&mut head).unwrap();
        // No redirect leads it elsewhere.
        assert!(String::from_utf8_lossy(&head[..length]).starts_with("GET /ping/secret HTTP/1.1"));
        let answer = format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n");
        stream.write_all(answer.as_bytes()).unwrap();
    }
    let said = scraped.said.lock().unwrap().clone();
    let problems = (said.matches("302 Found").count(), said.matches("500 Internal").count());
    assert_eq!((problems, said.contains("secret")), ((2, 1), false), "{said}");
    // From here on nobody answers.
    let before = scraped.trades().len();
    scraped.wait("it traded on", |scraped| scraped.trades().len() > before);
    assert_eq!(scraped.get("/healthz").0, 200);
}

#[cfg(target_os = "linux")]
#[test]
fn systemd_is_told_that_it_has_begun_that_it_lives_and_how_it_stands() {
    let folder = Folder::new();
    let path = folder.path("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    let folder = folder.with_variable("NOTIFY_SOCKET", path.to_str().unwrap());
    let _scraped = Scraped::start_in(folder.with_variable("WATCHDOG_USEC", "400000"));
    let mut told = String::new();
    while !told.contains("STATUS=trading") || told.matches("WATCHDOG=1").count() < 3 {
        let mut news = [0; 512];
        let length = socket.recv(&mut news).unwrap();
        told.push_str(&String::from_utf8_lossy(&news[..length]));
    }
    assert_eq!(told.matches("READY=1\n").count(), 1, "{told}");
}
