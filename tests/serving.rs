//! The sandbox in its own process.
#![cfg(unix)]

use crate::candlewick::Folder;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Killing fails if the process has already exited.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn start_serving(folder: &Folder, arguments: &[&str]) -> (Process, Value) {
    let mut command = folder.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    (Process(child), ready)
}

pub(crate) fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
}

/// Sends an HTTP request and reads until the answer ends or contains `end`. Each header ends with a line break.
pub(crate) fn request(address: &str, what: &str, (headers, body): (&str, &str), end: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let request = format!(
        "{what} HTTP/1.1\r\nhost: {address}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
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

pub(crate) struct Served {
    process: Process,
    ready: Value,
    /// Working directory, removed after the process has exited.
    _folder: Folder,
}

impl Served {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let arguments = [&["sandbox", "--json", "--listen", "127.0.0.1:0"], arguments].concat();
        let folder = Folder::new();
        let (process, ready) = start_serving(&folder, &arguments);
        Self { process, ready, _folder: folder }
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.ready[key].as_str().unwrap()
    }

    pub(crate) fn known_to(&self, folder: Folder) -> Folder {
        folder
            .with_variable("CANDLEWICK_BROKER__BASE_URL", self.text("base_url"))
            .with_variable("CANDLEWICK_BROKER__PRICE_URL", self.text("base_url"))
            .with_variable("CANDLEWICK_BROKER__API_TOKEN", self.text("token"))
            .with_variable("CANDLEWICK_BROKER__API_KEY", self.text("api_key"))
    }

    fn get(&self, path: &str, header: &str) -> String {
        self.ask(&format!("GET {path}"), header, "")
    }

    pub(crate) fn open(&self, order: &Value) -> String {
        let header = format!("api-token: {}\r\ncontent-type: application/json", self.text("token"));
        let answer = self.ask("POST /token/trades/open", &header, &order.to_string());
        let body = answer.split("\r\n\r\n").nth(1).unwrap();
        let trade: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
        trade["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    fn ask(&self, what: &str, header: &str, body: &str) -> String {
        let address = self.text("base_url").strip_prefix("http://").unwrap();
        request(address, what, (&format!("{header}\r\nx-timestamp: 1\r\n"), body), "")
    }

    fn end(mut self, signal: &str) -> Option<i32> {
        send(signal, &self.process.0);
        self.process.0.wait().unwrap().code()
    }
}

#[test]
fn starts_at_a_given_moment_and_ends_on_an_interrupt() {
    let served = Served::start(&["--speed", "60", "--start", "2026-01-07"]);
    assert_eq!(served.ready["start"], 1_767_744_000_000_i64);
    assert_eq!(served.end("INT"), Some(130));
}

/// Currencies pause at weekends, and five-second candles are shipped for four days only.
#[test]
fn without_a_start_every_series_has_candles_before_it() {
    for arguments in [&[] as &[&str], &["--speed", "60"]] {
        let served = Served::start(arguments);
        let start = served.ready["start"].as_i64().unwrap();
        let key = format!("api-key: {}", served.text("api_key"));
        let pairs = [("BTCUSDT", "crypto"), ("EURUSD", "forex"), ("GBPUSD", "forex")];
        let both = |(pair, kind)| [(pair, kind, "1m", 60_000), (pair, kind, "5s", 5_000)];
        for (pair, kind, interval, length) in pairs.map(both).concat() {
            for before in [0, 12 * 3_600_000] {
                let open = start - start % length - length - before;
                let path = format!(
                    "/aggregated-prices/prices?pair={pair}&type={kind}&interval={interval}&startTime={open}&endTime={open}"
                );
                let reply = served.get(&path, &key);
                assert!(reply.contains(&format!("\"time\":{open}")), "{pair} {interval} at {open}: {reply}");
            }
        }
        assert_eq!(served.end("TERM"), Some(0));
    }
}
