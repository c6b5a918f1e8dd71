//! Bounded queue of a channel.

use crate::alert::{Alert, Severity};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

#[derive(Debug)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Notify,
}

#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) alerts: VecDeque<Alert>,
    pub(crate) dropped: u64,
    pub(crate) is_closed: bool,
    capacity: usize,
}

impl Queue {
    pub(crate) fn new(capacity: usize) -> Self {
        let waiting =
            Waiting { alerts: VecDeque::new(), dropped: 0, is_closed: false, capacity: capacity.max(1) };
        Self { waiting: Mutex::new(waiting), changed: Notify::new() }
    }

    /// Adds an alert without blocking and returns whether nothing was dropped.
    ///
    /// If the queue is full, the oldest of the least severe alerts is dropped, or the new one if
    /// none is less severe.
    pub(crate) fn push(&self, alert: Alert) -> bool {
        let is_kept = self.lock().push(alert);
        self.changed.notify_one();
        is_kept
    }

    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_one();
    }

    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn push(&mut self, alert: Alert) -> bool {
        if self.alerts.len() < self.capacity {
            self.alerts.push_back(alert);
            return true;
        }
        self.dropped += 1;
        let least = self.alerts.iter().map(|waiting| waiting.severity).min().unwrap_or(Severity::Critical);
        if least <= alert.severity
            && let Some(place) = self.alerts.iter().position(|waiting| waiting.severity == least)
        {
            drop(self.alerts.remove(place));
            self.alerts.push_back(alert);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_drops_the_oldest_of_the_least_severe_and_counts_it() {
        let queue = Queue::new(3);
        let push = |at, severity| queue.push(Alert::new(at, severity, "x", ""));
        assert!(push(1, Severity::Info));
        assert!(push(2, Severity::Critical));
        assert!(push(3, Severity::Info));
        assert!(!push(4, Severity::Warning));
        assert!(!push(5, Severity::Info));
        assert!(!push(6, Severity::Critical));
        assert!(!push(7, Severity::Info), "nothing that waits matters less");
        let waiting = queue.lock();
        assert_eq!(waiting.alerts.iter().map(|alert| alert.at).collect::<Vec<_>>(), [2, 4, 6]);
        assert_eq!(waiting.dropped, 4);
    }
}
