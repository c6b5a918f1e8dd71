//! Signals by the webhook and by standard input of a running bot: a drill of a thousand, and what is left of it.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::control::venue_of_short_trades;
use crate::outside_signals::venue_time;
use crate::recording;
use candlewick_broker::clock::Stopwatch;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

const SECRET: &str = "0123456789abcdef0123456789abcdef";
/// How long something is looked for.
const PATIENCE: Duration = Duration::from_mins(1);

/// A bot whose standard input is ours; it is ended with the test.
struct Bot {
    child: Child,
    stdin: Option<ChildStdin>,
    /// What it said on stderr so far.
    said: Arc<Mutex<String>>,
    /// Lines that it says there.
    lines: mpsc::Receiver<String>,
}

impl Bot {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = folder.command(&[&["live", "-v", "--config", "bot.toml"], arguments].concat());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (said, stdin) = (Arc::new(Mutex::new(String::new())), child.stdin.take());
        let (sender, lines) = mpsc::channel();
        let (stderr, all) = (BufReader::new(child.stderr.take().unwrap()), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let mut all = all.lock().unwrap();
                all.push_str(&line);
                all.push('\n');
                let _ = sender.send(line);
            }
        });
        // Its first line is printed when the run has begun; the rest is read to its end.
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the run did not begin: {}", said.lock().unwrap());
        std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        Self { child, stdin, said, lines }
    }

    /// Where its webhook listens.
    fn webhook(&self) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("it says where");
            if let Some((_, address)) = line.split_once("signals are taken at http://") {
                return address.trim_end_matches("/signal").to_owned();
            }
        }
    }

    fn end(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
        self.child.wait().unwrap();
        self.said.lock().unwrap().clone()
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The status of the answer to a body.
fn post(address: &str, secret: &str, body: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /signal HTTP/1.1\r\nhost: {address}\r\nx-candlewick-secret: {secret}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut answer = String::new();
    if stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut answer)).is_err() {
        return 0;
    }
    answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default()
}

/// The journal's entries of this text.
fn count(folder: &Folder, text: &str) -> usize {
    let lines = recording::lines(&folder.path("candlewick.db"));
    lines.iter().filter(|stored| stored.line.body.contains(text)).count()
}

/// What came by a door, once it is as expected.
fn tally_when(folder: &Folder, source: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let watch = Stopwatch::start();
    loop {
        // A run that has begun just now may not have written its journal.
        let status = folder.run(&["status", "--json", "--config", "bot.toml"]);
        if status.code == 0 {
            let tally = status.json()["bot"]["signals"]["by_source"][source].clone();
            if is_it(&tally) {
                return tally;
            }
        }
        assert!(watch.elapsed() < PATIENCE, "{} {}", status.stdout, status.stderr);
    }
}

fn number(tally: &Value, key: &str) -> u64 {
    tally[key].as_u64().unwrap_or_default()
}

/// The message of this number among a thousand, with which secret it is sent, and what is answered: by turns new ones, some that
/// came before, late ones, for nobody, malformed, garbage, and with a wrong secret.
fn message(number: u64, now: i64) -> (String, &'static str, u16) {
    let signal = |id: u64, more: &str| {
        let action = if id.is_multiple_of(8) { "buy" } else { "sell" };
        format!(
            "{{\"bot\":\"btc\",\"ticker\":\"VENUE:BTCUSDT\",\"action\":\"{action}\",\"id\":\"{id}\",\"close\":\"1.5\"{more}}}"
        )
    };
    match number % 8 {
        0 | 4 => (signal(number, ""), SECRET, 202),
        1 | 2 => (signal(number - number % 8, ""), SECRET, 202),
        3 if number % 16 == 3 => (signal(number, ",\"time\":\"1970-01-01T00:00:00Z\""), SECRET, 400),
        3 => (signal(number, &format!(",\"time\":{}", now - 600_000)), SECRET, 202),
        5 => (signal(number, "").replace("btc", "nobody"), SECRET, 400),
        6 => (signal(number, "").replace("buy", "hold").replace("sell", "hold"), SECRET, 400),
        7 if number % 16 == 7 => ("{\"bot\":[".to_owned(), SECRET, 400),
        _ => (signal(number, ""), "fedcba9876543210fedcba9876543210", 403),
    }
}

#[test]
fn of_a_thousand_alerts_and_a_flood_each_is_one_trade_at_most_and_parity_explains_all() {
    let (_served, folder) = venue_of_short_trades();
    let folder = folder.with("hook.secret", SECRET);
    std::fs::set_permissions(folder.path("hook.secret"), PermissionsExt::from_mode(0o600)).unwrap();
    let folder = folder
        .with_variable("CANDLEWICK_SIGNALS__LISTEN", "127.0.0.1:0")
        .with_variable("CANDLEWICK_SIGNALS__SECRET_FILE", "hook.secret")
        .with_variable("CANDLEWICK_SIGNALS__REQUESTS_PER_MINUTE", "1000");
    let bot = Bot::start(&folder, &[]);
    let address = bot.webhook();
    let now = venue_time(&folder);
    for number in 0..1_000 {
        let (body, secret, expected) = message(number, now);
        let mut status = post(&address, secret, &body);
        // The run may be behind: who is turned away sends again.
        while status == 429 {
            status = post(&address, secret, &body);
        }
        assert_eq!(status, expected, "{body}");
    }
    let taken = |tally: &Value| number(tally, "approved") + number(tally, "refused");
    let is_done = |tally: &Value| taken(tally) == 250 && number(tally, "malformed") == 438;
    let tally = tally_when(&folder, "webhook", is_done);
    assert_eq!((number(&tally, "duplicates"), number(&tally, "late")), (250, 62), "{tally}");
    let before = number(&tally, "turned_away");
    let flood = (0..1_500).map(|number| {
        post(&address, SECRET, &format!("{{\"bot\":\"btc\",\"action\":\"buy\",\"id\":\"flood {number}\"}}"))
    });
    let flood: Vec<u16> = flood.collect();
    let accepted = flood.iter().filter(|status| **status == 202).count() as u64;
    let turned_away = flood.iter().filter(|status| **status == 429).count() as u64;
    assert_eq!(accepted + turned_away, 1_500, "{flood:?}");
    assert!(turned_away > 500, "{accepted} accepted");
    let is_done = |tally: &Value| {
        taken(tally) + number(tally, "late") == 312 + accepted
            && number(tally, "turned_away") == before + turned_away
    };
    let tally = tally_when(&folder, "webhook", is_done);
    let said = bot.end();
    // What was dropped or none is in no other entry of the journal: the run notes it at its end.
    let after = folder.run(&["status", "--json", "--config", "bot.toml"]).json();
    assert_eq!((&after["bot"], &after["signals"]["by_source"]["webhook"]), (&Value::Null, &tally));
    let text = folder.run(&["status", "--config", "bot.toml"]).stdout;
    let words =
        format!("{} duplicates, {} malformed", number(&tally, "duplicates"), number(&tally, "malformed"));
    assert!(text.contains(&words), "{words}: {text}");
    println!("accepted {accepted} of the flood, turned away {turned_away}: {tally}");
    let approved = number(&tally, "approved");
    assert!(approved > 0);
    assert_eq!(
        count(&folder, "\"event\":\"outside_signal\"") as u64,
        312 + accepted,
        "no duplicate is an event"
    );
    let refused = number(&tally, "refused") + number(&tally, "late");
    assert_eq!(count(&folder, "signal from webhook") as u64 - refused, approved, "a trade each");
    let proven = folder.run(&["parity", "--journal", "candlewick.db", "--json"]).json();
    assert_eq!((&proven["ok"], &proven["unexplained"]), (&json!(true), &json!(0)), "{proven}");
    let journal = std::fs::read(folder.path("candlewick.db")).unwrap();
    assert!(!said.contains(SECRET), "{said}");
    assert!(!journal.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes()));
}

#[test]
fn signals_on_standard_input_are_taken_line_by_line_and_its_end_ends_no_run() {
    let (_served, folder) = venue_of_short_trades();
    let mut bot = Bot::start(&folder, &["--signals", "-"]);
    let late = venue_time(&folder) - 600_000;
    let late = format!("{{\"bot\":\"btc\",\"direction\":\"BUY\",\"time\":{late}}}");
    let lines = [
        r#"{"bot":"btc","direction":"BUY","id":"one"}"#,
        r#"{"bot":"btc","direction":"BUY","id":"one"}"#,
        "",
        "garbage",
        r#"{"bot":"btc","direction":"BUY","stake":100}"#,
        r#"{"bot":"eth","direction":"BUY"}"#,
        r#"{"bot":"btc","direction":"BUY","time":"2026-01-01T00:00:00Z"}"#,
        &late,
    ];
    let mut stdin = bot.stdin.take().unwrap();
    stdin.write_all(lines.join("\n").as_bytes()).unwrap();
    drop(stdin);
    let judged = |tally: &Value| number(tally, "approved") + number(tally, "refused");
    let is_done =
        |tally: &Value| number(tally, "malformed") == 4 && number(tally, "late") == 1 && judged(tally) == 1;
    let tally = tally_when(&folder, "stdin", is_done);
    assert_eq!((judged(&tally), number(&tally, "duplicates")), (1, 1), "{tally}");
    // Each is told by its reason, however many came at once.
    let reasons: Vec<(&String, &Value)> = tally["reasons"].as_object().unwrap().iter().collect();
    assert_eq!(reasons.len(), 4, "{tally}");
    for part in ["not a JSON object", "stake", "there is no bot \"eth\"", "2026-01-01"] {
        assert!(
            reasons.iter().any(|(reason, times)| reason.contains(part) && **times == 1),
            "{part}: {tally}"
        );
    }
    let said = bot.end();
    let status = folder.run(&["status", "--config", "bot.toml"]).stdout;
    assert!(status.contains("what was no signal (stdin): once: "), "{status}");
    // One alarm for all that came within its pace.
    assert!(said.contains("what came as a signal (stdin) is none"), "{said}");
    assert_eq!(count(&folder, "\"event\":\"outside_signal\""), 2);
}

#[test]
fn a_list_that_cannot_be_read_and_a_webhook_without_a_secret_start_nothing() {
    let (_served, folder) = venue_of_short_trades();
    let folder = folder.with("list.csv", "time,bot,direction\n10:30,eth,BUY\n");
    let live = |arguments: &[&str]| folder.run(&[&["live", "--config", "bot.toml"], arguments].concat());
    live(&["--signals", "list.csv"])
        .fails(3, &["list.csv", "line 2: there is no bot \"eth\": the bots are btc"]);
    live(&["--signals", "none.csv"]).fails(3, &["none.csv", "cannot read the file"]);
    let folder = folder.with_variable("CANDLEWICK_SIGNALS__LISTEN", "0.0.0.0:0");
    let live = folder.run(&["live", "--config", "bot.toml"]);
    live.fails(2, &["signals.listen", "allow_remote", "needs a secret", "CANDLEWICK_SIGNALS__SECRET"]);
    let checked = folder.run(&["config", "check", "--config", "bot.toml"]);
    checked.fails(2, &["needs a secret"]);
}

#[test]
fn status_says_which_lines_of_the_list_are_passed_over_and_why() {
    let (_served, folder) = venue_of_short_trades();
    let folder = folder
        .with("list.csv", "10:30 btc BUY\nhello world\n25:99 btc BUY\n")
        .with_variable("CANDLEWICK_SIGNALS__LIST", "list.csv")
        .with_variable("CANDLEWICK_SIGNALS__SKIP_UNKNOWN", "true");
    // What the lines alone are answered with.
    let checked = folder.run(&["signal", "--check", "list.csv", "--config", "bot.toml"]).stdout;
    let why = checked.lines().find_map(|line| line.trim_start().strip_prefix("2  no entry: ")).unwrap();
    let why = why.strip_suffix(" (hello world)").unwrap();
    let bot = Bot::start(&folder, &[]);
    let passed_over = |is_it: &dyn Fn(&Value) -> bool| {
        let watch = Stopwatch::start();
        loop {
            let status = folder.run(&["status", "--json", "--config", "bot.toml"]);
            if status.code == 0 && !status.json()["bot"]["signals"]["next"].is_null() {
                let told = status.json()["bot"]["signals"]["passed_over"].clone();
                if is_it(&told) {
                    return told;
                }
            }
            assert!(watch.elapsed() < PATIENCE, "{} {}", status.stdout, status.stderr);
        }
    };
    let told = passed_over(&|told| !told.is_null());
    assert_eq!(told, json!(format!("2 lines passed over (2, 3); line 2: {why}")));
    let text = folder.run(&["status", "--config", "bot.toml"]).stdout;
    assert!(text.contains(" passed over ") && text.contains("2 lines passed over (2, 3)"), "{text}");
    // A list that is mended has none.
    std::fs::write(folder.path("list.csv"), "10:30 btc BUY\n").unwrap();
    passed_over(&Value::is_null);
    assert!(!folder.run(&["status", "--config", "bot.toml"]).stdout.contains("passed over"));
    bot.end();
    // What a list gives belongs to a running bot, and is no part of what came.
    let after = folder.run(&["status", "--config", "bot.toml", "--json"]).json();
    assert!(after["signals"]["passed_over"].is_null(), "{after}");
}
