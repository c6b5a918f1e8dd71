//! A relay between the program and a venue: passes every byte on, and knows what was asked for so far.
//!
//! A client that asks one question after the other has taken the answer to one before it asks the next: so what was
//! asked for shows how far a process has come, however busy the machine is.
#![cfg(unix)]

use candlewick_broker::clock::Stopwatch;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long what is to be asked for is waited for at most.
const PATIENCE: Duration = Duration::from_mins(1);

/// Serves until it is closed, or the test's process ends.
pub(crate) struct Relay {
    /// Where it listens.
    pub(crate) url: String,
    asked: Arc<Asked>,
    open: Arc<Mutex<Open>>,
    listening: JoinHandle<()>,
}

/// What ends when the relay is closed.
#[derive(Default)]
struct Open {
    is_closed: bool,
    streams: Vec<TcpStream>,
}

/// The first line of each request, in the order of their coming.
#[derive(Default)]
struct Asked {
    lines: Mutex<Vec<String>>,
    news: Condvar,
}

impl Relay {
    /// To the venue at this address.
    pub(crate) fn to(venue: &str) -> Self {
        let venue = venue.strip_prefix("http://").unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (asked, open) = (Arc::new(Asked::default()), Arc::new(Mutex::new(Open::default())));
        let (record, opened) = (Arc::clone(&asked), Arc::clone(&open));
        let listening = std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let mut open = opened.lock().unwrap();
                if open.is_closed {
                    return;
                }
                let venue = TcpStream::connect(&venue).unwrap();
                open.streams.extend([client.try_clone().unwrap(), venue.try_clone().unwrap()]);
                let (to_client, from_venue) = (client.try_clone().unwrap(), venue.try_clone().unwrap());
                let record = Arc::clone(&record);
                std::thread::spawn(move || pass_on(from_venue, to_client, |_| {}));
                let mut text = String::new();
                std::thread::spawn(move || pass_on(client, venue, |bytes| record.take(&mut text, bytes)));
            }
        });
        Self { url, asked, open, listening }
    }

    /// Ends every connection; from now on none can be made.
    pub(crate) fn close(self) {
        let mut open = self.open.lock().unwrap();
        open.is_closed = true;
        for stream in open.streams.drain(..) {
            // One that has ended already needs no ending.
            let _ = stream.shutdown(Shutdown::Both);
        }
        drop(open);
        // Whoever listens notices with the next connection.
        drop(TcpStream::connect(self.url.strip_prefix("http://").unwrap()));
        self.listening.join().unwrap();
    }

    /// What was asked for so far is forgotten: another process is waited for next.
    pub(crate) fn forget(&self) {
        self.asked.lines.lock().unwrap().clear();
    }

    /// Waits until so many requests of a kind have been seen.
    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize, is_it: impl Fn(&str) -> bool) {
        let watch = Stopwatch::start();
        let mut lines = self.asked.lines.lock().unwrap();
        while lines.iter().filter(|line| is_it(line)).count() < count {
            let left = PATIENCE.saturating_sub(watch.elapsed());
            assert!(!left.is_zero(), "{count} requests did not come in {PATIENCE:?}, only {lines:?}");
            lines = self.asked.news.wait_timeout(lines, left).unwrap().0;
        }
    }
}

impl Asked {
    /// Bytes of a client; `text` is what was not yet a whole line.
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

/// Until either side ends, which ends the other.
fn pass_on(mut from: TcpStream, mut to: TcpStream, mut see: impl FnMut(&[u8])) {
    let mut buffer = [0; 16_384];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        see(&buffer[..length]);
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    // A side that is gone already need not be ended.
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
