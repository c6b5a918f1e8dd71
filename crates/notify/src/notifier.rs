//! The way in for alerts: from here each goes to the channels that want it.

use crate::alert::Alert;
use crate::channel::Delivery;
use crate::queue::Queue;
use crate::repeats::Repeats;
use crate::rules::Rules;
use crate::worker::Worker;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// How much goes out, and what waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Alerts that wait for a channel at most, beside the message that is being sent.
    pub queue: usize,
    /// Messages of a channel in a window before what follows becomes a digest; twice as many where something critical waits.
    pub digest_after: usize,
    /// That window.
    pub digest_window: Duration,
    /// How long the same alert is not repeated; zero: each is sent.
    pub quiet: Duration,
}

/// Hands alerts on to channels. It never waits.
#[derive(Debug)]
pub struct Notifier {
    routes: Vec<Route>,
    repeats: Mutex<Repeats>,
    workers: JoinSet<()>,
}

#[derive(Debug)]
struct Route {
    name: String,
    rules: Rules,
    queue: Arc<Queue>,
    counts: Arc<Counts>,
}

/// What became of the alerts of a channel.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) messages: AtomicU64,
    pub(crate) sent: AtomicU64,
    pub(crate) retried: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) refused: AtomicU64,
    /// Alerts of the message that is being sent.
    pub(crate) in_hand: AtomicU64,
}

/// What became of the alerts of a channel, so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelCounts {
    /// Its name.
    pub channel: String,
    /// Messages that were taken.
    pub messages: u64,
    /// Alerts in them.
    pub sent: u64,
    /// Attempts that failed, and were followed by another.
    pub retried: u64,
    /// Alerts that found no room.
    pub dropped: u64,
    /// Alerts of messages that the receiver refused for good.
    pub refused: u64,
    /// Alerts that wait, or are being sent.
    pub waiting: u64,
}

impl Notifier {
    /// Begins to send, in tasks of the runtime that this is called in.
    pub fn begin(sender: &str, channels: Vec<(String, Rules, Box<dyn Delivery>)>, pace: Pace) -> Self {
        let (mut routes, mut workers) = (Vec::new(), JoinSet::new());
        for (name, rules, delivery) in channels {
            let (queue, counts) = (Arc::new(Queue::new(pace.queue)), Arc::new(Counts::default()));
            let worker = Worker {
                name: name.clone(),
                sender: sender.to_owned(),
                queue: Arc::clone(&queue),
                delivery,
                pace,
                counts: Arc::clone(&counts),
            };
            workers.spawn(worker.work());
            routes.push(Route { name, rules, queue, counts });
        }
        Self { routes, repeats: Mutex::new(Repeats::new(pace.quiet)), workers }
    }

    /// Hands an alert on, without waiting. One that was said a short while ago is counted, and told later.
    pub fn send(&self, alert: Alert) {
        let passed = self.repeats().pass(alert, Instant::now());
        if let Some(alert) = passed {
            self.route(&alert);
        }
    }

    /// Tells what was held back and is due. To be called now and then, such as every second.
    pub fn tick(&self) {
        let due = self.repeats().due(Instant::now(), false);
        for alert in due {
            self.route(&alert);
        }
    }

    /// What became of the alerts, by channel.
    pub fn counts(&self) -> Vec<ChannelCounts> {
        self.routes.iter().map(Route::counts).collect()
    }

    /// Sends what waits within `patience`, however long retries would take; and says what became of all: what still waits is lost.
    pub async fn end(mut self, patience: Duration) -> Vec<ChannelCounts> {
        let held_back = self.repeats().due(Instant::now(), true);
        for alert in held_back {
            self.route(&alert);
        }
        for route in &self.routes {
            route.queue.close();
        }
        let all = async { while self.workers.join_next().await.is_some() {} };
        drop(timeout(patience, all).await);
        // What is counted then changes no more.
        self.workers.shutdown().await;
        self.counts()
    }

    fn route(&self, alert: &Alert) {
        for route in self.routes.iter().filter(|route| route.rules.want(alert)) {
            if !route.queue.push(alert.clone()) {
                route.counts.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn repeats(&self) -> std::sync::MutexGuard<'_, Repeats> {
        self.repeats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Route {
    fn counts(&self) -> ChannelCounts {
        let counts = &self.counts;
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        ChannelCounts {
            channel: self.name.clone(),
            messages: of(&counts.messages),
            sent: of(&counts.sent),
            retried: of(&counts.retried),
            dropped: of(&counts.dropped),
            refused: of(&counts.refused),
            waiting: of(&counts.in_hand) + self.queue.lock().alerts.len() as u64,
        }
    }
}
