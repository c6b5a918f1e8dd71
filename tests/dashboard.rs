//! The page of a journal whose run is over: it says what `status` and `trades` say, to whoever signed in, and ends on its own.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::recording;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

struct Page {
    child: Child,
    address: String,
    token: String,
}

impl Page {
    fn start(folder: &Folder) -> Self {
        let arguments = ["dashboard", "--json", "--journal", "run.db"];
        let mut child =
            folder.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let link = ready["link"].as_str().unwrap();
        let token = link.split_once("#token=").unwrap().1.to_owned();
        Self { child, address: ready["address"].as_str().unwrap().to_owned(), token }
    }

    /// Asks, and reads until the answer ends or holds this.
    fn ask(&self, what: &str, headers: &str, body: &str, end: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (host, length) = (&self.address, body.len());
        let request = format!(
            "{what} HTTP/1.1\r\nhost: {host}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let (mut read, mut bytes) = (Vec::new(), [0; 4_096]);
        while end.is_empty() || !String::from_utf8_lossy(&read).contains(end) {
            match stream.read(&mut bytes).unwrap() {
                0 => break,
                length => read.extend_from_slice(&bytes[..length]),
            }
        }
        String::from_utf8_lossy(&read).into_owned()
    }

    fn cookie(&self) -> String {
        let headers = "x-candlewick: 1\r\ncontent-type: application/json\r\n";
        let answer = self.ask("POST /api/session", headers, &json!({ "token": self.token }).to_string(), "");
        let line = answer.lines().find(|line| line.to_ascii_lowercase().starts_with("set-cookie: ")).unwrap();
        format!("cookie: {}\r\n", line[12..].split(';').next().unwrap())
    }

    fn json(&self, path: &str, cookie: &str) -> Value {
        let answer = self.ask(&format!("GET {path}"), cookie, "", "");
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error}: {answer}"))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn the_page_of_a_run_that_is_over_says_what_status_and_trades_say() {
    let folder = recording::folder();
    assert_eq!(recording::record_in_lock_step(&folder).code, 0);
    let journal = ["--journal", "run.db"];
    let status = folder.run(&[&["status", "--json"], &journal[..]].concat()).json();
    let listed = folder.run(&[&["trades", "--json"], &journal[..]].concat()).json();
    let page = Page::start(&folder);
    let cookie = page.cookie();
    let state = loop {
        let state = page.json("/api/state", &cookie);
        if state["run"]["seq"] == status["entries"] && state["reading"].is_null() {
            break state;
        }
    };
    assert_eq!(state["phase"], "not_running");
    let (run, money) = (&state["run"], &state["run"]["money"]);
    for (shown, said) in [
        (&money["equity"], &status["equity"]),
        (&money["free"], &status["balance"]),
        (&money["profit_today"], &status["profit_today"]),
        (&money["loss_streak"], &status["loss_streak"]),
        (&run["settled"], &status["settled"]),
        (&run["bots"][0]["verdict"], &status["verdicts"][0]),
    ] {
        assert_eq!(shown, said);
    }
    // All pages of trades together are the list, newest first.
    let (mut trades, mut before) = (Vec::new(), json!(1_000_000));
    while !before.is_null() {
        let told = page.json(&format!("/api/trades?limit=7&before={before}"), &cookie);
        assert!(told["trades"].as_array().unwrap().len() <= 7);
        trades.extend(told["trades"].as_array().unwrap().iter().cloned());
        before = told["before"].clone();
    }
    trades.reverse();
    let listed = listed.get("trades").unwrap_or(&listed);
    assert!(trades.len() > 7, "{}", trades.len());
    assert_eq!(&Value::Array(trades), listed);
    // Every line of the journal, page by page.
    let (mut lines, mut before) = (0, json!(1_000_000));
    while !before.is_null() {
        let told = page.json(&format!("/api/lines?limit=200&before={before}"), &cookie);
        lines += told["lines"].as_array().unwrap().len();
        before = told["before"].clone();
    }
    assert_eq!(json!(lines), status["entries"]);
    // What `explain` says of the first trade.
    let explained = folder.run(&[&["explain", "1"], &journal[..]].concat());
    let told = page.json("/api/trades/1", &cookie);
    assert_eq!(told["text"].as_str().unwrap().trim(), explained.stdout.trim());
    // What there is not is answered with what there is.
    let bot = status["verdicts"][0]["bot"].as_str().unwrap();
    for (path, expected) in [
        ("/api/candles?series=9".to_owned(), "the journal has no such series: 0 is BTCUSDT".to_owned()),
        ("/api/equity?bot=9".to_owned(), format!("the journal has no such bot: 0 is {bot}")),
        (
            "/api/why?at=1799999999999&bot=nobody".to_owned(),
            format!("the journal has no bot nobody; there is {bot}"),
        ),
    ] {
        let told = page.json(&path, &cookie);
        let problem = told["problem"].as_str().unwrap_or_default();
        assert!(problem.starts_with(&expected), "{path}: {told}, not {expected}");
    }
}

#[test]
fn a_connection_that_was_lost_is_taken_up_after_the_last_line_told() {
    let folder = recording::folder();
    assert_eq!(recording::record_in_lock_step(&folder).code, 0);
    let page = Page::start(&folder);
    let cookie = page.cookie();
    while page.json("/api/state", &cookie)["run"]["bots"].is_null() {}
    while !page.json("/api/state", &cookie)["reading"].is_null() {}
    let first = page.ask("GET /api/events", &cookie, "", "event: clock");
    assert!(first.contains("event: state") && first.contains("event: lines"), "{first}");
    let id = first.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let again = page.ask("GET /api/events", &format!("{cookie}last-event-id: {id}\r\n"), "", "event: clock");
    assert!(again.contains("event: state") && !again.contains("event: lines"), "{again}");
    let strange = page.ask("GET /api/events", &format!("{cookie}last-event-id: x-1\r\n"), "", "event: clock");
    assert!(strange.contains("event: lines"), "{strange}");
}
