//! A run's events on stdout, a JSON object a line, from a thread of its own: a reader that is slow misses lines and is told how
//! many.

use super::screen::PATIENCE;
use crate::terminal::json;
use candlewick_runtime::events::{EventFeed, Followed, RunEvent};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::oneshot;

/// The thread that prints.
pub(super) struct PrintedEvents {
    is_late: Arc<AtomicBool>,
    has_ended: oneshot::Receiver<()>,
}

impl PrintedEvents {
    /// Begins to print. The last event is left to whoever knows all figures.
    pub(super) fn begin(feed: &EventFeed) -> Self {
        let mut follower = feed.follow();
        let (ended, has_ended) = oneshot::channel();
        let is_late = Arc::new(AtomicBool::new(false));
        let leaves = Arc::clone(&is_late);
        std::thread::spawn(move || {
            while let Some(followed) = follower.wait() {
                let printed = match &followed {
                    Followed::Line(text) => print(text),
                    Followed::Missed(text) => print(text),
                    Followed::End(_) => break,
                };
                // A reader that went away is no reason to stop.
                if printed.is_err() {
                    break;
                }
                if leaves.load(Ordering::Relaxed) {
                    let count = follower.leave();
                    let told = serde_json::to_string(&RunEvent::Dropped { count }).unwrap_or_default();
                    let _ = print(&told);
                    break;
                }
            }
            let _ = ended.send(());
        });
        Self { is_late, has_ended }
    }

    /// Waits until all is printed; of a reader that is late, until it has taken the line that is being printed.
    pub(super) async fn end(self) {
        let Self { is_late, mut has_ended } = self;
        if tokio::time::timeout(PATIENCE, &mut has_ended).await.is_err() {
            is_late.store(true, Ordering::Relaxed);
            let _ = has_ended.await;
        }
    }
}

fn print(line: &str) -> io::Result<()> {
    writeln!(anstream::stdout(), "{}", json(line))
}
