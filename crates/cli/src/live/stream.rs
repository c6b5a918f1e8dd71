//! Prints run events to stdout, one JSON object per line. Counts the events that a slow reader misses.

use super::screen::FLUSH_TIMEOUT;
use crate::failure::Failure;
use crate::host;
use crate::log::LogWriter;
use crate::output::print_json_text;
use crate::terminal::escape_json;
use candlewick_runtime::events::{EventFeed, FollowedEvent, RunEvent};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::sync::oneshot;

const LAST_LINE_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct EventPrinter {
    is_late: Arc<AtomicBool>,
    has_ended: oneshot::Receiver<()>,
}

impl EventPrinter {
    pub(super) fn start(feed: &EventFeed) -> Self {
        Self::start_with_callback(feed, print, false)
    }

    fn start_with_callback(
        feed: &EventFeed,
        print: impl Fn(&str) -> io::Result<()> + Send + 'static,
        has_end: bool,
    ) -> Self {
        let mut follower = feed.follow();
        let (ended, has_ended) = oneshot::channel();
        let is_late = Arc::new(AtomicBool::new(false));
        let leaves = Arc::clone(&is_late);
        std::thread::spawn(move || {
            while let Some(followed) = follower.blocking_next() {
                let printed = match &followed {
                    FollowedEvent::Line(text) => print(text),
                    FollowedEvent::Missed(text) => print(text),
                    FollowedEvent::End(text) => {
                        if has_end {
                            let _ = print(text);
                        }
                        break;
                    }
                };
                // The run continues even if the output is closed.
                if printed.is_err() {
                    break;
                }
                if leaves.load(Ordering::Relaxed) {
                    let count = follower.unsubscribe();
                    let _ = print(&serde_json::to_string(&RunEvent::Dropped { count }).unwrap_or_default());
                    break;
                }
            }
            let _ = ended.send(());
        });
        Self { is_late, has_ended }
    }

    /// Waits until all events are printed. After a timeout, completes the current line and drops all other events.
    pub(super) async fn end(self) {
        self.end_with_timeouts(FLUSH_TIMEOUT, LAST_LINE_TIMEOUT).await;
    }

    async fn end_with_timeouts(self, patience: Duration, last_patience: Duration) {
        let Self { is_late, mut has_ended } = self;
        if tokio::time::timeout(patience, &mut has_ended).await.is_err() {
            is_late.store(true, Ordering::Relaxed);
            drop(tokio::time::timeout(last_patience, has_ended).await);
        }
    }
}

pub(super) fn print_final_document(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(document).map_err(Failure::unexpected)?;
    if host::capture_output(&escape_json(&text)) {
        return Ok(());
    }
    run_with_timeout(LAST_LINE_TIMEOUT, move || print_json_text(&text)).map_or_else(
        || {
            let patience = LAST_LINE_TIMEOUT.as_secs();
            tracing::warn!(
                "stdout was not read for {patience} s, so the last line is missing; the journal is complete"
            );
            Ok(())
        },
        |printed| printed.map(drop),
    )
}

/// Runs `act` in a thread. If `act` takes longer than `patience`, returns `None` and abandons the thread.
fn run_with_timeout<T: Send + 'static>(
    patience: Duration,
    act: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || done.send(act()));
    is_done.recv_timeout(patience).ok()
}

fn print(line: &str) -> io::Result<()> {
    writeln!(anstream::stdout(), "{}", escape_json(line))
}

/// Names of events that are too frequent for the log or that the log already contains.
const UNLOGGED_EVENTS: [&str; 5] = ["candle", "updated", "wallet", "alarm", "warning"];

#[derive(Deserialize)]
struct EventName {
    event: String,
}

pub(super) fn log_events(feed: &EventFeed, log: &LogWriter) -> EventPrinter {
    let log = log.clone();
    let print = move |line: &str| {
        if let Ok(EventName { event }) = serde_json::from_str(line)
            && !UNLOGGED_EVENTS.contains(&event.as_str())
        {
            log.print_event(&event, line);
        }
        Ok(())
    };
    EventPrinter::start_with_callback(feed, print, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Millis;

    const MOMENT: Duration = Duration::from_millis(1);

    #[tokio::test]
    async fn does_not_wait_forever_for_a_stalled_reader() {
        let feed = EventFeed::default();
        let (over, is_over) = mpsc::channel::<()>();
        let (reads, is_read) = mpsc::channel();
        let printed = EventPrinter::start_with_callback(
            &feed,
            move |line| {
                let _ = reads.send(line.to_owned());
                let _ = is_over.recv();
                Ok(())
            },
            false,
        );
        feed.publish(Millis::ZERO, &RunEvent::Resumed);
        assert!(is_read.recv().unwrap().contains("resumed"));
        printed.end_with_timeouts(MOMENT, MOMENT).await;
        let (hold, held) = mpsc::channel::<()>();
        assert_eq!(run_with_timeout(MOMENT, move || held.recv()), None);
        assert_eq!(run_with_timeout(LAST_LINE_TIMEOUT, || 7), Some(7));
        drop((over, hold));
    }
}
