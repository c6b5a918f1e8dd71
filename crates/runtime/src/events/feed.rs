//! Event feed: delivers the events of a run to its followers.

use super::document::RunEvent;
use super::translate::EventNames;
use crate::notice::{Notice, NoticeFilter, NoticeReceiver, NoticeSender, Observer, RequestKind};
use candlewick_broker::clock::Clock;
use candlewick_sdk::Millis;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::broadcast::{self, Receiver, Sender};

const MAX_BUFFERED_LINES: usize = 4_096;
const MAX_NOTICES: usize = 16_384;

/// Sends a run's event lines to all followers. Clones share the same feed.
#[derive(Clone, Debug)]
pub struct EventFeed {
    lines: Sender<Line>,
    shared: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Counters {
    last: Mutex<u64>,
    dropped: AtomicU64,
    /// Number of events dropped for all followers, plus the events that each slow follower missed.
    missed: AtomicU64,
}

#[derive(Clone, Debug)]
struct Line {
    text: Arc<str>,
    is_end: bool,
}

#[derive(Debug)]
pub struct Follower {
    lines: Receiver<Line>,
    shared: Arc<Counters>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowedEvent {
    Line(Arc<str>),
    End(Arc<str>),
    Missed(String),
}

#[derive(Serialize)]
struct Document<'a> {
    seq: u64,
    at: Millis,
    #[serde(flatten)]
    event: &'a RunEvent,
}

impl Default for EventFeed {
    fn default() -> Self {
        Self { lines: broadcast::channel(MAX_BUFFERED_LINES).0, shared: Arc::default() }
    }
}

impl EventFeed {
    pub fn follow(&self) -> Follower {
        Follower { lines: self.lines.subscribe(), shared: Arc::clone(&self.shared) }
    }

    pub fn follower_count(&self) -> usize {
        self.lines.receiver_count()
    }

    pub fn last_seq(&self) -> u64 {
        *self.shared.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn dropped_count(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }

    pub fn missed_count(&self) -> u64 {
        self.shared.missed.load(Ordering::Relaxed)
    }

    /// Sends an event to all followers. Does nothing if there are no followers.
    pub fn publish(&self, at: Millis, event: &RunEvent) {
        if self.follower_count() == 0 {
            return;
        }
        // The line is numbered and sent under one lock, so that all lines are in order.
        let mut last = self.shared.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last += 1;
        match serde_json::to_string(&Document { seq: *last, at, event }) {
            Ok(text) => {
                let is_end = matches!(event, RunEvent::Ended(_));
                // Sending fails if all followers have disconnected, which is not an error.
                let _ = self.lines.send(Line { text: text.into(), is_end });
            }
            Err(error) => tracing::warn!(%error, "an event cannot be serialized"),
        }
    }

    pub fn observer(
        &self,
        names: EventNames,
        clock: Arc<dyn Clock>,
    ) -> (EventObserver, impl Future<Output = ()> + Send + use<>) {
        let (watcher, notices) = NoticeSender::channel(MAX_NOTICES, NoticeFilter::Everything);
        let feed = self.clone();
        (EventObserver { watcher, feed: self.clone() }, feed.translate(notices, names, clock))
    }

    async fn translate(self, mut notices: NoticeReceiver, names: EventNames, clock: Arc<dyn Clock>) {
        while let Some(received) = notices.next().await {
            if received.missed > 0 {
                self.shared.dropped.fetch_add(received.missed, Ordering::Relaxed);
                self.shared.missed.fetch_add(received.missed, Ordering::Relaxed);
                self.publish(clock.now(), &RunEvent::Dropped { count: received.missed });
            }
            names.translate(received.notice, clock.now(), |at, event| self.publish(at, &event));
        }
    }
}

#[derive(Debug)]
pub struct EventObserver {
    watcher: NoticeSender,
    feed: EventFeed,
}

impl Observer for EventObserver {
    fn on_loop_turn(&self) {}

    fn on_notice(&self, notice: &Notice) {
        if self.feed.follower_count() > 0 {
            self.watcher.send(notice);
        }
    }

    fn on_answer(&self, _question: RequestKind, _took: Duration) {}

    fn on_journal_write(&self, _took: Duration, _is_durable: bool) {}
}

impl Follower {
    pub async fn next(&mut self) -> Option<FollowedEvent> {
        let received = self.lines.recv().await;
        self.to_followed_event(received)
    }

    /// Blocks until the next event. Must not be called from an async task.
    pub fn blocking_next(&mut self) -> Option<FollowedEvent> {
        let received = self.lines.blocking_recv();
        self.to_followed_event(received)
    }

    /// Unsubscribes and returns the number of unread events. The run's final event is not counted.
    pub fn unsubscribe(mut self) -> u64 {
        let mut rest = 0;
        loop {
            match self.lines.try_recv() {
                Ok(line) => rest += u64::from(!line.is_end),
                Err(TryRecvError::Lagged(count)) => rest += count,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return rest,
            }
        }
    }

    fn to_followed_event(&self, received: Result<Line, RecvError>) -> Option<FollowedEvent> {
        match received {
            Ok(Line { text, is_end: true }) => Some(FollowedEvent::End(text)),
            Ok(Line { text, .. }) => Some(FollowedEvent::Line(text)),
            Err(RecvError::Lagged(count)) => {
                self.shared.missed.fetch_add(count, Ordering::Relaxed);
                let told = serde_json::to_string(&RunEvent::Dropped { count });
                Some(FollowedEvent::Missed(told.unwrap_or_default()))
            }
            Err(RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Phase;
    use candlewick_broker::clock::{Speed, VirtualClock};
    use candlewick_sdk::MoneyScale;
    use serde_json::{Value, json};

    fn read(followed: Option<FollowedEvent>) -> Value {
        match followed {
            Some(FollowedEvent::Line(text) | FollowedEvent::End(text)) => {
                serde_json::from_str(&text).unwrap()
            }
            Some(FollowedEvent::Missed(text)) => serde_json::from_str(&text).unwrap(),
            None => Value::Null,
        }
    }

    #[tokio::test]
    async fn counts_dropped_notices_without_blocking_the_run() {
        let (feed, clock) = (EventFeed::default(), Arc::new(VirtualClock::new(Millis::ZERO, Speed::Max)));
        let (observer, translation) = feed.observer(EventNames::new(&[], MoneyScale::default()), clock);
        let phase = |phase| Notice::Phase { phase, reason: Some("news".to_owned()) };
        observer.on_notice(&phase(Phase::Halted));
        let mut follower = feed.follow();
        for _ in 0..MAX_NOTICES + 5 {
            observer.on_notice(&phase(Phase::Halted));
        }
        drop(observer);
        let all = async {
            let mut last = Value::Null;
            let dropped = json!({ "event": "dropped", "seq": 1, "at": 0, "count": 5 });
            assert_eq!(read(follower.next().await), dropped);
            loop {
                match follower.next().await {
                    Some(FollowedEvent::Missed(_)) => {}
                    None => return last,
                    followed => last = read(followed),
                }
            }
        };
        drop(feed);
        let (last, ()) = tokio::join!(all, translation);
        assert_eq!(last, json!({ "event": "halted", "seq": MAX_NOTICES + 1, "at": 0, "reason": "news" }));
    }
}
