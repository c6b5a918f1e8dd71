//! The dashboard of a finished run agrees with `status`, `trades` and `explain`.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::recording;
use crate::serving::{Process, request, start_serving};
use serde_json::{Value, json};

struct Page {
    _process: Process,
    address: String,
    cookie: String,
}

impl Page {
    /// Starts the dashboard of `run.db`, signs in and waits until the journal is read.
    fn open(folder: &Folder) -> (Self, Value) {
        let (process, ready) = start_serving(folder, &["dashboard", "--json", "--journal", "run.db"]);
        let address = ready["address"].as_str().unwrap().to_owned();
        let mut page = Self { _process: process, address, cookie: String::new() };
        let token = ready["link"].as_str().unwrap().split_once("#token=").unwrap().1;
        let headers = "x-candlewick: 1\r\ncontent-type: application/json\r\n";
        let answer = page.ask("POST /api/session", headers, &json!({ "token": token }).to_string(), "");
        let line = answer.lines().find(|line| line.to_ascii_lowercase().starts_with("set-cookie: ")).unwrap();
        page.cookie = format!("cookie: {}\r\n", line[12..].split(';').next().unwrap());
        let status = folder.run(&["status", "--json", "--journal", "run.db"]).json();
        loop {
            let state = page.json("/api/state");
            if state["run"]["seq"] == status["entries"] && state["reading"].is_null() {
                return (page, state);
            }
        }
    }

    fn ask(&self, what: &str, headers: &str, body: &str, end: &str) -> String {
        request(&self.address, what, (&format!("{}{headers}", self.cookie), body), end)
    }

    fn json(&self, path: &str) -> Value {
        let answer = self.ask(&format!("GET {path}"), "", "", "");
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error}: {answer}"))
    }

    /// Returns all rows of a list that is served in pages, newest first.
    fn rows(&self, list: &str, limit: u32) -> Vec<Value> {
        let (mut rows, mut before) = (Vec::new(), json!(1_000_000));
        while !before.is_null() {
            let page = self.json(&format!("/api/{list}?limit={limit}&before={before}"));
            rows.extend(page[list].as_array().unwrap().iter().cloned());
            before = page["before"].clone();
        }
        rows
    }
}

#[test]
fn dashboard_of_a_finished_run_agrees_with_status_trades_and_explain() {
    let folder = recording::folder();
    assert_eq!(recording::record_in_lock_step(&folder).code, 0);
    let (page, state) = Page::open(&folder);
    let status = folder.run(&["status", "--json", "--journal", "run.db"]).json();
    assert_eq!(state["phase"], "not_running");
    let (run, money) = (&state["run"], &state["run"]["money"]);
    for (shown, expected) in [
        (&money["equity"], &status["equity"]),
        (&money["free"], &status["balance"]),
        (&money["profit_today"], &status["profit_today"]),
        (&money["loss_streak"], &status["loss_streak"]),
        (&run["settled"], &status["settled"]),
        (&run["bots"][0]["verdict"], &status["verdicts"][0]),
    ] {
        assert_eq!(shown, expected);
    }
    let mut trades = page.rows("trades", 7);
    trades.reverse();
    assert!(trades.len() > 7, "{}", trades.len());
    let listed = folder.run(&["trades", "--json", "--journal", "run.db"]).json();
    assert_eq!(Value::Array(trades), listed);
    assert_eq!(json!(page.rows("lines", 200).len()), status["entries"]);
    let explained = folder.run(&["explain", "1", "--journal", "run.db"]);
    assert_eq!(page.json("/api/trades/1")["text"].as_str().unwrap().trim(), explained.stdout.trim());
    for path in ["/api/equity?bot=9", "/api/why?at=1799999999999&bot=nobody"] {
        let answer = page.json(path);
        let names_a_bot = answer["problem"].as_str().is_some_and(|problem| problem.contains("btc"));
        assert!(names_a_bot, "{path}: {answer}");
    }
}

#[test]
fn lost_event_stream_resumes_after_the_last_received_line() {
    let folder = recording::folder();
    assert_eq!(recording::record_in_lock_step(&folder).code, 0);
    let (page, _) = Page::open(&folder);
    let events = |header: &str| page.ask("GET /api/events", header, "", "event: clock");
    let first = events("");
    assert!(first.contains("event: state") && first.contains("event: lines"), "{first}");
    let id = first.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let again = events(&format!("last-event-id: {id}\r\n"));
    assert!(again.contains("event: state") && !again.contains("event: lines"), "{again}");
}
