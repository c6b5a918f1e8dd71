//! A relay that counts requests to a venue, as a measure of progress that is independent of the machine's load.
#![cfg(unix)]

use candlewick_broker::clock::Stopwatch;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Relay {
    pub(crate) url: String,
    asked: Arc<RequestLog>,
    open: Arc<Mutex<Open>>,
    listening: JoinHandle<()>,
}

type Open = Option<Vec<TcpStream>>;

#[derive(Default)]
struct RequestLog {
    lines: Mutex<Vec<String>>,
    news: Condvar,
}

impl Relay {
    pub(crate) fn to(venue: &str) -> Self {
        let venue = venue.strip_prefix("http://").unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (asked, open) = (Arc::new(RequestLog::default()), Arc::new(Mutex::new(Some(Vec::new()))));
        let (record, opened) = (Arc::clone(&asked), Arc::clone(&open));
        let listening = std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let mut open = opened.lock().unwrap();
                let Some(streams) = &mut *open else { return };
                let venue = TcpStream::connect(&venue).unwrap();
                let clones = || [client.try_clone().unwrap(), venue.try_clone().unwrap()];
                streams.extend(clones());
                let [to_client, from_venue] = clones();
                let record = Arc::clone(&record);
                std::thread::spawn(move || pass_on(from_venue, to_client, |_| {}));
                let mut text = String::new();
                std::thread::spawn(move || pass_on(client, venue, |bytes| record.take(&mut text, bytes)));
            }
        });
        Self { url, asked, open, listening }
    }

    pub(crate) fn close(self) {
        for stream in self.open.lock().unwrap().take().unwrap() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // The listener notices at the next connection.
        drop(TcpStream::connect(self.url.strip_prefix("http://").unwrap()));
        self.listening.join().unwrap();
    }

    pub(crate) fn forget(&self) {
        self.asked.lines.lock().unwrap().clear();
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize, is_it: impl Fn(&str) -> bool) {
        let watch = Stopwatch::start();
        let mut lines = self.asked.lines.lock().unwrap();
        while lines.iter().filter(|line| is_it(line)).count() < count {
            let left = PATIENCE.saturating_sub(watch.elapsed());
            assert!(!left.is_zero(), "{count} requests did not arrive within {PATIENCE:?}, only {lines:?}");
            lines = self.asked.news.wait_timeout(lines, left).unwrap().0;
        }
    }
}

impl RequestLog {
    fn take(&self, text: &mut String, bytes: &[u8]) {
        text.push_str(&String::from_utf8_lossy(bytes));
        while let Some(end) = text.find("\r\n") {
            let line: String = text.drain(..end + 2).collect();
            if line.ends_with(" HTTP/1.1\r\n") {
                self.lines.lock().unwrap().push(line.trim_end().to_owned());
                self.news.notify_all();
            }
        }
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, mut see: impl FnMut(&[u8])) {
    let mut buffer = [0; 16_384];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        see(&buffer[..length]);
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
