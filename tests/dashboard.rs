//! The event stream of the dashboard; the golden test records its other answers.
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
    fn open(folder: &Folder) -> Self {
        let (process, ready) = start_serving(folder, &["dashboard", "--json", "--journal", "run.db"]);
        let address = ready["address"].as_str().unwrap().to_owned();
        let mut page = Self { _process: process, address, cookie: String::new() };
        let token = ready["link"].as_str().unwrap().split_once("#token=").unwrap().1;
        let headers = "x-candlewick: 1\r\ncontent-type: application/json\r\n";
        let answer = page.ask("POST /api/session", headers, &json!({ "token": token }).to_string(), "");
        let line = answer.lines().find(|line| line.to_ascii_lowercase().starts_with("set-cookie: ")).unwrap();
        page.cookie = format!("cookie: {}\r\n", line[12..].split(';').next().unwrap());
        let status = folder.query("status", "run.db");
        let is_read = |state: &Value| state["run"]["seq"] == status["entries"] && state["reading"].is_null();
        while !is_read(&page.json("/api/state")) {}
        page
    }

    fn ask(&self, what: &str, headers: &str, body: &str, end: &str) -> String {
        request(&self.address, what, (&format!("{}{headers}", self.cookie), body), end)
    }

    fn json(&self, path: &str) -> Value {
        let answer = self.ask(&format!("GET {path}"), "", "", "");
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error}: {answer}"))
    }
}

#[test]
fn interrupted_event_stream_resumes_after_the_last_received_line() {
    let folder = recording::folder();
    assert_eq!(recording::record_in_lock_step(&folder).code, 0);
    let page = Page::open(&folder);
    let events = |header: &str| page.ask("GET /api/events", header, "", "event: clock");
    let first = events("");
    assert!(first.contains("event: state") && first.contains("event: lines"), "{first}");
    let id = first.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let again = events(&format!("last-event-id: {id}\r\n"));
    assert!(again.contains("event: state") && !again.contains("event: lines"), "{again}");
    for path in ["/api/equity?bot=9", "/api/why?at=1799999999999&bot=unknown"] {
        let problem = page.json(path)["problem"].to_string();
        assert!(problem.contains("btc"), "{path}: {problem}");
    }
}
