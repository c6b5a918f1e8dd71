//! A small HTTP/1.1 server over plain sockets that shares no code with the program.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

const IDLE_TIMEOUT: Duration = Duration::from_mins(2);

pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: String,
    query: HashMap<String, String>,
    headers: HashMap<String, String>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.parameter(name).parse().ok()
    }
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Header lines, each with its line break.
    pub(crate) head: String,
    pub(crate) body: String,
    pub(crate) delay: Duration,
    pub(crate) is_truncated: bool,
}

impl Reply {
    pub(crate) fn new(status: u16, body: String) -> Self {
        Self { status, head: String::new(), body, delay: Duration::ZERO, is_truncated: false }
    }
}

pub(crate) fn serve(handler: impl Fn(Request) -> Reply + Send + Sync + 'static) -> String {
    serve_on(TcpListener::bind("127.0.0.1:0").unwrap(), handler)
}

pub(crate) fn serve_on(
    listener: TcpListener,
    handler: impl Fn(Request) -> Reply + Send + Sync + 'static,
) -> String {
    let url = format!("http://{}", listener.local_addr().unwrap());
    let handler = Arc::new(handler);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let handler = Arc::clone(&handler);
            std::thread::spawn(move || answer(&stream, &*handler));
        }
    });
    url
}

fn answer(stream: &TcpStream, handler: &impl Fn(Request) -> Reply) {
    let _ = stream.set_read_timeout(Some(IDLE_TIMEOUT));
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader) {
        let reply = handler(request);
        std::thread::sleep(reply.delay);
        if reply.is_truncated || write_reply(stream, &reply).is_none() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Request> {
    let first = read_line(reader)?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = HashMap::new();
    loop {
        let line = read_line(reader)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length: usize = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    Some(Request {
        method,
        path: decode(path).next()?.0,
        body: String::from_utf8(body).ok()?,
        query: decode(query).collect(),
        headers,
    })
}

fn read_line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let length = reader.read_line(&mut line).ok()?;
    (length > 0).then(|| line.trim_end().to_owned())
}

fn decode(text: &str) -> impl Iterator<Item = (String, String)> {
    url::form_urlencoded::parse(text.as_bytes()).into_owned()
}

fn write_reply(mut stream: &TcpStream, reply: &Reply) -> Option<()> {
    let Reply { status, head, body, .. } = reply;
    let kind = if body.starts_with(['{', '[', '"']) { "application/json" } else { "text/plain" };
    let size = body.len();
    let head = format!("HTTP/1.1 {status} x\r\n{head}Content-Type: {kind}\r\nContent-Length: {size}\r\n\r\n");
    stream.write_all((head + body).as_bytes()).ok()
}
