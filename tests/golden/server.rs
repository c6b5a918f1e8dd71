//! A command that serves HTTP on this machine, and its answers.

use crate::case::Server;
use crate::document::{parse_event_stream, parse_metrics};
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Read, Write, copy, pipe, sink};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::time::Duration;

const SANDBOX_HEADERS: &str = "api-token: sandbox-token\r\napi-key: sandbox-key\r\nx-timestamp: 1\r\n";
/// Start of the event that ends an update of the page.
const LAST_EVENT: &str = "event: clock";

const READ_TIMEOUT: Duration = Duration::from_mins(1);
const MAX_STATES: usize = 100_000;

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

pub(crate) fn ask(mut command: Command, server: &Server) -> Value {
    let (reader, writer) = pipe().unwrap();
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    let _running = Running(command.spawn().unwrap());
    drop(command);
    let mut printed = BufReader::new(reader);
    let line = loop {
        let mut line = String::new();
        assert!(printed.read_line(&mut line).unwrap() > 0, "{}: exited before it was ready", server.run);
        if line.contains(&server.ready) {
            break line;
        }
    };
    // Drain the pipe, because a full one would stop the server.
    std::thread::spawn(move || copy(&mut printed, &mut sink()));
    let client = Client::connect(&line);
    let answers = server.get.iter().map(|path| (path.clone(), client.answer(path)));
    answers.collect::<Map<_, _>>().into()
}

struct Client {
    address: String,
    headers: String,
}

impl Client {
    fn connect(line: &str) -> Self {
        let text_after = |mark: &str, is_part: fn(char) -> bool| {
            let (_, text) = line.split_once(mark)?;
            text.split(|letter| !is_part(letter)).next().map(str::to_owned)
        };
        let address = text_after("http://", |letter| letter.is_ascii_digit() || ".:".contains(letter));
        let token = text_after("#token=", |letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
        let mut client = Self { address: address.unwrap(), headers: SANDBOX_HEADERS.to_owned() };
        if let Some(token) = token {
            client.sign_in(&token);
        }
        client
    }

    fn sign_in(&mut self, token: &str) {
        let body = json!({ "token": token }).to_string();
        let headers = "x-candlewick: 1\r\ncontent-type: application/json\r\n";
        let answer = self.exchange("POST /api/session", headers, &body, None);
        let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        self.headers = format!("cookie: {}\r\n", cookie.split(';').next().unwrap());
        let is_read =
            |answer: &Value| answer["body"]["reading"].is_null() && !answer["body"]["run"].is_null();
        assert!((0..MAX_STATES).any(|_| is_read(&self.answer("/api/state"))), "the journal is not read");
    }

    fn answer(&self, path: &str) -> Value {
        let end = path.ends_with("/events").then_some(LAST_EVENT);
        let answer = self.exchange(&format!("GET {path}"), &self.headers, "", end);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = match serde_json::from_str(body) {
            Ok(document) => document,
            Err(_) if end.is_some() => parse_event_stream(body),
            Err(_) if body.starts_with("# ") => parse_metrics(body),
            Err(_) => body.trim().into(),
        };
        json!({ "status": status, "body": body })
    }

    /// Sends a request and reads until the answer ends, or the event after `last` does.
    fn exchange(&self, request: &str, headers: &str, body: &str, last: Option<&str>) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
        let (host, length) = (&self.address, body.len());
        // HTTP 1.0 keeps the server from sending chunks.
        let request =
            format!("{request} HTTP/1.0\r\nhost: {host}\r\n{headers}content-length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let (mut read, mut part) = (Vec::new(), [0; 4_096]);
        loop {
            let length = stream.read(&mut part).unwrap();
            read.extend_from_slice(&part[..length]);
            let text = String::from_utf8_lossy(&read);
            let rest = last.and_then(|last| text.split_once(last));
            if length == 0 || rest.is_some_and(|(_, rest)| rest.contains("\n\n")) {
                return text.into_owned();
            }
        }
    }
}
