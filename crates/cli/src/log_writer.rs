//! Writes to stderr from a thread of its own, so that a terminal that stands still (Ctrl-S, a pager) holds nothing up.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// Lines that may wait to be written; more are dropped and counted.
const WAITING: usize = 4_096;
/// How long a program that ends waits for its last lines.
const PATIENCE: Duration = Duration::from_secs(1);

/// The way of lines to the thread that writes them.
#[derive(Clone)]
pub(crate) struct LogWriter {
    lines: SyncSender<Line>,
    dropped: Arc<AtomicU64>,
}

enum Line {
    Text(Vec<u8>),
    /// Everything before it is to be written, and this answered.
    Flush(SyncSender<()>),
}

impl LogWriter {
    /// Begins to write to `target`.
    pub(crate) fn start(mut target: impl Write + Send + 'static) -> Self {
        let (lines, waiting) = sync_channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let missed = Arc::clone(&dropped);
        std::thread::spawn(move || {
            for line in waiting {
                match line {
                    Line::Text(text) => {
                        let count = missed.swap(0, Ordering::Relaxed);
                        if count > 0 {
                            let _ = writeln!(
                                target,
                                "{count} log lines were left out: the terminal did not keep up"
                            );
                        }
                        // A reader that went away is no reason to stop.
                        let _ = target.write_all(&text);
                    }
                    Line::Flush(done) => {
                        let _ = target.flush();
                        let _ = done.try_send(());
                    }
                }
            }
        });
        Self { lines, dropped }
    }

    /// Prints a text as it is.
    pub(crate) fn print(&self, text: &str) {
        self.send(text.as_bytes());
    }

    fn send(&self, bytes: &[u8]) {
        if let Err(TrySendError::Full(_)) = self.lines.try_send(Line::Text(bytes.to_vec())) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until all lines so far are written, but not for long.
    pub(crate) fn flush(&self) {
        let (done, is_done) = sync_channel(1);
        let lines = self.lines.clone();
        // Where many lines wait, the request waits for room: in a thread of its own, so that the patience holds for both.
        std::thread::spawn(move || lines.send(Line::Flush(done)));
        let _ = is_done.recv_timeout(PATIENCE);
    }
}

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::mpsc::Receiver;

    /// A terminal that writes nothing before it is let go, and keeps what it writes.
    struct Held(Receiver<()>, Arc<Mutex<Vec<u8>>>);

    impl Write for Held {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            self.1.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_terminal_that_stands_still_holds_nothing_up_and_what_it_missed_is_counted() {
        let (go, held) = sync_channel(0);
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut writer = LogWriter::start(Held(held, Arc::clone(&written)));
        for number in 0..WAITING * 2 {
            writer.write_all(format!("line {number}\n").as_bytes()).unwrap();
        }
        let dropped = writer.dropped.load(Ordering::Relaxed);
        assert!(dropped >= WAITING as u64 - 2, "{dropped}");
        drop(go);
        writer.flush();
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert!(text.contains("log lines were left out"), "{text:.200}");
    }
}
