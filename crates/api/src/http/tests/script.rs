//! Scripted venue for tests. It performs a list of acts on a raw socket and records every request.

use super::HttpBroker;
use crate::{Credentials, Secret, Settings};
use candlewick_broker::clock::SystemClock;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

#[derive(Clone, Debug)]
pub(super) enum Act {
    Reply(String),
    ReplyThenClose(String),
    Flood,
    Reset,
    Close,
    Hang,
}

#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) line: String,
    pub(super) head: String,
    pub(super) body: String,
}

pub(super) struct Script {
    address: SocketAddr,
    log: Arc<Log>,
    server: AbortHandle,
}

#[derive(Default)]
struct Log {
    acts: Vec<Act>,
    requests: Mutex<Vec<Received>>,
    connections: AtomicUsize,
}

pub(super) fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

pub(super) fn reply(status: &str, body: &str) -> Act {
    Act::Reply(answer(status, body))
}

pub(super) fn patient() -> Settings {
    Settings {
        retry_pause_ms: 1,
        timeout_ms: 60_000,
        read_deadline_ms: 60_000,
        connect_timeout_ms: 30_000,
        ..Settings::default()
    }
}

pub(super) fn unlimited() -> Settings {
    Settings { requests_per_second: 0.0, ..patient() }
}

impl Script {
    pub(super) async fn answering(bodies: &[&str]) -> Self {
        Self::start(bodies.iter().map(|body| reply("200 OK", body)).collect()).await
    }

    pub(super) async fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::new(Log { acts, ..Log::default() });
        let shared = Arc::clone(&log);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { address, log, server: server.abort_handle() }
    }

    pub(super) fn broker(&self, settings: Settings) -> HttpBroker {
        let credentials =
            Credentials { api_token: Secret::new("tok-123").ok(), api_key: Secret::new("key-456").ok() };
        self.broker_with(settings, credentials)
    }

    pub(super) fn broker_with(&self, mut settings: Settings, credentials: Credentials) -> HttpBroker {
        let default = Settings::default();
        for (url, default) in
            [(&mut settings.base_url, default.base_url), (&mut settings.price_url, default.price_url)]
        {
            if *url == default {
                *url = self.address();
            }
        }
        HttpBroker::new(settings, credentials, Arc::new(SystemClock::new())).unwrap()
    }

    pub(super) fn broker_with_file(&self, first: &'static str) -> (HttpBroker, Arc<Mutex<&'static str>>) {
        let file = Arc::new(Mutex::new(first));
        let read = Arc::clone(&file);
        let source = move || Secret::new(*read.lock().unwrap()).ok();
        (self.broker(patient()).with_token_source(Arc::new(source)), file)
    }

    pub(super) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn requests(&self) -> Vec<Received> {
        self.log.requests.lock().unwrap().clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.log.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(mut stream: TcpStream, log: Arc<Log>) {
    while let Some(request) = read_request(&mut stream).await {
        let act = {
            let mut requests = log.requests.lock().unwrap();
            requests.push(request);
            log.acts[(requests.len() - 1).min(log.acts.len() - 1)].clone()
        };
        match act {
            Act::Reply(text) => {
                if stream.write_all(text.as_bytes()).await.is_err() {
                    return;
                }
            }
            Act::ReplyThenClose(text) => {
                let _ = stream.write_all(text.as_bytes()).await;
                return;
            }
            Act::Flood => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
                while stream.write_all(format!("400\r\n{}\r\n", " ".repeat(1_024)).as_bytes()).await.is_ok() {
                }
                return;
            }
            Act::Reset => {
                stream.set_zero_linger().unwrap();
                return;
            }
            Act::Close => return,
            Act::Hang => std::future::pending().await,
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).await.ok()?;
        bytes.extend_from_slice(&byte);
    }
    let head = String::from_utf8(bytes).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await.ok()?;
    let line = head.lines().next().unwrap_or_default().to_owned();
    Some(Received { line, head, body: String::from_utf8(body).unwrap() })
}
