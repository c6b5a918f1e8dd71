//! Routes alerts to channels with one bounded queue each, and throttles identical alerts.

use crate::alert::{Alert, AlertFilter, Severity};
use crate::channel::MessageSender;
use crate::worker::Worker;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// Maximum number of throttled keys. Alerts with further keys are not throttled.
const MAX_REPEAT_KEYS: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliverySettings {
    pub queue_capacity: usize,
    /// Message limit per window, doubled while a critical alert is queued. Further alerts are sent as a digest.
    pub digest_after: usize,
    pub digest_window: Duration,
    /// Period in which repetitions of an alert are suppressed; zero to send every alert.
    pub quiet_period: Duration,
}

#[derive(Debug)]
pub struct Notifier {
    routes: Vec<(AlertFilter, Arc<Queue>)>,
    repeats: Mutex<RepeatFilter>,
    workers: JoinSet<()>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelCounts {
    pub channel: String,
    pub messages: u64,
    pub sent: u64,
    pub retried: u64,
    pub dropped: u64,
    pub refused: u64,
    pub waiting: u64,
}

impl Notifier {
    pub fn start(
        sender: &str,
        channels: Vec<(String, AlertFilter, Box<dyn MessageSender>)>,
        pace: DeliverySettings,
    ) -> Self {
        let (mut routes, mut workers) = (Vec::new(), JoinSet::new());
        for (name, rules, delivery) in channels {
            let queue = Arc::new(Queue::new(&name, pace.queue_capacity));
            routes.push((rules, Arc::clone(&queue)));
            workers.spawn(
                Worker { name, sender: sender.to_owned(), queue, message_sender: delivery, settings: pace }
                    .run(),
            );
        }
        Self { routes, repeats: Mutex::new(RepeatFilter::new(pace.quiet_period)), workers }
    }

    /// Routes an alert without blocking. Counts duplicates in the quiet period; [`Self::tick`] sends the last one.
    pub fn send(&self, alert: Alert) {
        let passed = self.lock_repeats().filter_repeat(alert, Instant::now());
        self.route(passed);
    }

    /// Sends suppressed duplicates that are due. Call this method regularly, such as every second.
    pub fn tick(&self) {
        let due = self.lock_repeats().take_repeats(Instant::now(), false);
        self.route(due);
    }

    pub fn counts(&self) -> Vec<ChannelCounts> {
        self.routes.iter().map(|(_, queue)| queue.counts()).collect()
    }

    /// Sends the queued alerts for up to `patience`, then stops. Alerts that are still queued at that time are lost.
    pub async fn shut_down(mut self, patience: Duration) -> Vec<ChannelCounts> {
        let held_back = self.lock_repeats().take_repeats(Instant::now(), true);
        self.route(held_back);
        for (_, queue) in &self.routes {
            queue.close();
        }
        let all = async { while self.workers.join_next().await.is_some() {} };
        drop(timeout(patience, all).await);
        self.workers.shutdown().await;
        self.counts()
    }

    fn route(&self, alerts: impl IntoIterator<Item = Alert>) {
        for alert in alerts {
            for (_, queue) in self.routes.iter().filter(|(rules, _)| rules.accepts(&alert)) {
                queue.push(alert.clone());
            }
        }
    }

    fn lock_repeats(&self) -> MutexGuard<'_, RepeatFilter> {
        self.repeats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(crate) struct Queue {
    waiting: Mutex<QueueState>,
    changed: Notify,
}

#[derive(Debug)]
pub(crate) struct QueueState {
    pub(crate) alerts: VecDeque<Alert>,
    pub(crate) dropped: u64,
    pub(crate) is_closed: bool,
    /// Counts of the channel, except that `waiting` covers only the message being delivered.
    pub(crate) counts: ChannelCounts,
    capacity: usize,
}

impl Queue {
    fn new(channel: &str, capacity: usize) -> Self {
        let counts = ChannelCounts { channel: channel.to_owned(), ..ChannelCounts::default() };
        let (alerts, capacity) = (VecDeque::new(), capacity.max(1));
        let waiting = QueueState { alerts, dropped: 0, is_closed: false, counts, capacity };
        Self { waiting: Mutex::new(waiting), changed: Notify::new() }
    }

    /// Adds an alert without blocking. If the queue is full, drops the oldest of the least severe alerts.
    fn push(&self, alert: Alert) {
        self.lock().push(alert);
        self.changed.notify_one();
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_one();
    }

    pub(crate) async fn wait_for_change(&self) {
        self.changed.notified().await;
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self) -> ChannelCounts {
        let waiting = self.lock();
        let mut counts = waiting.counts.clone();
        counts.waiting += waiting.alerts.len() as u64;
        counts
    }
}

impl QueueState {
    fn push(&mut self, alert: Alert) {
        if self.alerts.len() < self.capacity {
            self.alerts.push_back(alert);
            return;
        }
        self.dropped += 1;
        self.counts.dropped += 1;
        let least = self.alerts.iter().map(|waiting| waiting.severity).min().unwrap_or(Severity::Critical);
        if least <= alert.severity
            && let Some(index) = self.alerts.iter().position(|waiting| waiting.severity == least)
        {
            drop(self.alerts.remove(index));
            self.alerts.push_back(alert);
        }
    }
}

#[derive(Debug)]
struct RepeatFilter {
    quiet: Duration,
    recent: HashMap<String, RecentAlert>,
}

#[derive(Debug)]
struct RecentAlert {
    since: Instant,
    last: Option<Alert>,
    held_back: u64,
}

impl RepeatFilter {
    fn new(quiet: Duration) -> Self {
        Self { quiet, recent: HashMap::new() }
    }

    fn filter_repeat(&mut self, alert: Alert, now: Instant) -> Option<Alert> {
        let Some(key) = alert.repeat_key.clone().filter(|_| !self.quiet.is_zero()) else {
            return Some(alert);
        };
        match self.recent.get_mut(&key) {
            Some(recent) if now.duration_since(recent.since) < self.quiet => {
                recent.held_back += 1;
                recent.last = Some(alert);
                None
            }
            Some(recent) => {
                let repeated = std::mem::take(&mut recent.held_back);
                *recent = RecentAlert { since: now, last: None, held_back: 0 };
                Some(Alert { repeated, ..alert })
            }
            None => {
                if self.recent.len() < MAX_REPEAT_KEYS {
                    self.recent.insert(key, RecentAlert { since: now, last: None, held_back: 0 });
                }
                Some(alert)
            }
        }
    }

    fn take_repeats(&mut self, now: Instant, is_end: bool) -> Vec<Alert> {
        let mut due = Vec::new();
        self.recent.retain(|_, recent| {
            if !is_end && now.duration_since(recent.since) < self.quiet {
                return true;
            }
            let Some(last) = recent.last.take() else { return false };
            due.push(Alert { repeated: recent.held_back - 1, ..last });
            *recent = RecentAlert { since: now, last: None, held_back: 0 };
            true
        });
        due.sort_by_key(|alert| alert.at);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_queue_drops_the_oldest_of_the_least_severe_alerts() {
        let queue = Queue::new("phone", 3);
        for (at, severity, dropped) in [
            (1, Severity::Info, 0),
            (2, Severity::Critical, 0),
            (3, Severity::Info, 0),
            (4, Severity::Warning, 1),
            (5, Severity::Info, 2),
            (6, Severity::Critical, 3),
            (7, Severity::Info, 4),
        ] {
            queue.push(Alert::new(at, severity, "x", ""));
            let waiting = queue.lock().dropped;
            assert_eq!((waiting, queue.counts().dropped), (dropped, dropped), "{at}");
        }
        assert_eq!(queue.lock().alerts.iter().map(|alert| alert.at).collect::<Vec<_>>(), [2, 4, 6]);
    }

    fn alert(at: i64, key: Option<&str>) -> Alert {
        let alert = Alert::new(at, Severity::Warning, "warning", format!("at {at}"));
        Alert { repeat_key: key.map(str::to_owned), ..alert }
    }

    #[tokio::test(start_paused = true)]
    async fn counts_repeated_alerts_until_the_quiet_time_ends() {
        let (mut repeats, start) = (RepeatFilter::new(Duration::from_mins(5)), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        let pass = |repeats: &mut RepeatFilter, at, key, seconds| {
            repeats.filter_repeat(alert(at, key), after(seconds)).map(|alert| (alert.at, alert.repeated))
        };
        assert_eq!(pass(&mut repeats, 0, Some("a"), 0), Some((0, 0)));
        for at in 1..=3 {
            assert_eq!(pass(&mut repeats, at, Some("a"), 10), None);
        }
        for (at, key) in [(4, Some("b")), (5, None), (5, None)] {
            assert_eq!(pass(&mut repeats, at, key, 10), Some((at, 0)));
        }
        assert_eq!(repeats.take_repeats(after(299), false), []);
        let due = repeats.take_repeats(after(300), false);
        assert_eq!(due.iter().map(|alert| (alert.at, alert.repeated)).collect::<Vec<_>>(), [(3, 2)]);
        assert_eq!(pass(&mut repeats, 6, Some("a"), 301), None, "the quiet time starts again");
        assert_eq!(repeats.take_repeats(after(302), true).len(), 1, "an end flushes all");
        for (at, seconds, passed) in [(7, 900, Some((7, 0))), (8, 900, None), (9, 1_300, Some((9, 1)))] {
            assert_eq!(pass(&mut repeats, at, Some("a"), seconds), passed);
        }
    }
}
