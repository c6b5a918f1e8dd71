//! Routing of alerts to channels.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    pub queue: usize,
    /// Messages per window before alerts are digested, twice as many if one is critical.
    pub digest_after: usize,
    pub digest_window: Duration,
    /// Time during which an identical alert is not repeated, zero to send each one.
    pub quiet: Duration,
}

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

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) messages: AtomicU64,
    pub(crate) sent: AtomicU64,
    pub(crate) retried: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) in_hand: AtomicU64,
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

    /// Routes an alert without blocking. Recent duplicates are counted and sent later.
    pub fn send(&self, alert: Alert) {
        let passed = self.repeats().pass(alert, Instant::now());
        if let Some(alert) = passed {
            self.route(&alert);
        }
    }

    /// Sends suppressed duplicates that are due. Call it regularly, such as every second.
    pub fn tick(&self) {
        let due = self.repeats().due(Instant::now(), false);
        for alert in due {
            self.route(&alert);
        }
    }

    pub fn counts(&self) -> Vec<ChannelCounts> {
        self.routes.iter().map(Route::counts).collect()
    }

    /// Flushes the queues within `patience`. Alerts that remain are lost.
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
