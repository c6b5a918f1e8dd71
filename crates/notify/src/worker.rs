//! Delivery task of a channel: builds messages from queued alerts, sends them and retries failed deliveries.

use crate::alert::{Message, Severity};
use crate::channel::MessageSender;
use crate::http::Failure;
use crate::notifier::{DeliverySettings, Queue, QueueState};
use backon::{BackoffBuilder, ExponentialBuilder};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout};

pub(crate) const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
const MIN_RETRY_DELAY: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_mins(5);
/// Limit for the retry delay that a receiver requests, and for the time to retry a rejected message.
const MAX_WAIT: Duration = Duration::from_hours(1);
const FAILURES_PER_LOG_LINE: u64 = 20;

pub(crate) struct Worker {
    pub(crate) name: String,
    pub(crate) sender: String,
    pub(crate) queue: Arc<Queue>,
    pub(crate) message_sender: Box<dyn MessageSender>,
    pub(crate) settings: DeliverySettings,
}

#[derive(Debug, PartialEq)]
enum Step {
    Await,
    Collect(Instant),
    Send(Message),
    End,
}

impl Worker {
    pub(crate) async fn run(self) {
        let mut sent = VecDeque::new();
        loop {
            let most = self.message_sender.max_alerts();
            let step = next_step(&mut self.queue.lock(), &sent, &self.settings, most, &self.sender);
            match step {
                Step::Await => self.queue.wait_for_change().await,
                Step::Collect(until) => {
                    tokio::select! {
                        () = sleep_until(until) => {}
                        () = self.queue.wait_for_change() => {}
                    }
                    remove_expired(&mut sent, self.settings.digest_window);
                }
                Step::Send(message) => {
                    self.send(&message).await;
                    self.queue.lock().counts.waiting = 0;
                    sent.push_back(Instant::now());
                    remove_expired(&mut sent, self.settings.digest_window);
                }
                Step::End => return,
            }
        }
    }

    async fn send(&self, message: &Message) {
        let mut pauses = backoff(MIN_RETRY_DELAY, MAX_RETRY_DELAY);
        let (mut failures, mut is_ending) = (0_u64, false);
        let (begun, alerts) = (Instant::now(), message.alerts.len());
        loop {
            let attempt = timeout(DELIVERY_TIMEOUT, self.message_sender.deliver(message)).await;
            let reason = || format!("no response within {} s", DELIVERY_TIMEOUT.as_secs());
            let attempt = attempt.unwrap_or_else(|_| Err(Failure::try_later(reason())));
            let attempt = attempt.map_err(|failure| match failure {
                // The content may be the cause. Dropping the message lets later messages through.
                Failure::Rejected { reason } if begun.elapsed() >= MAX_WAIT => Failure::Permanent { reason },
                other => other,
            });
            match attempt {
                Ok(()) => {
                    let mut waiting = self.queue.lock();
                    waiting.counts.messages += 1;
                    waiting.counts.sent += alerts as u64;
                    if failures > 0 {
                        tracing::info!(channel = self.name, failures, "alerts are accepted again");
                    }
                    return;
                }
                Err(Failure::Permanent { reason }) => {
                    // The next message will report the alerts dropped before this one.
                    let mut waiting = self.queue.lock();
                    waiting.dropped += message.dropped;
                    waiting.counts.refused += alerts as u64;
                    tracing::warn!(channel = self.name, alerts, reason, "undeliverable alerts are discarded");
                    return;
                }
                Err(failure) => {
                    failures += 1;
                    self.queue.lock().counts.retried += 1;
                    if failures % FAILURES_PER_LOG_LINE == 1 {
                        let text = "an alert was not delivered, retrying";
                        tracing::warn!(channel = self.name, failures, reason = %failure, "{text}");
                    }
                    // A requested delay of zero must not cause a busy loop.
                    let requested = failure.retry_after().map(|delay| delay.clamp(MIN_RETRY_DELAY, MAX_WAIT));
                    let pause = requested.or_else(|| pauses.next()).unwrap_or(MAX_RETRY_DELAY);
                    // Shutdown ends a pause early, unless the receiver requested the delay.
                    if self.wait_unless_closed(pause, requested.is_none() && !is_ending).await {
                        is_ending = true;
                        pauses = backoff(MIN_RETRY_DELAY, MAX_RETRY_DELAY);
                    }
                }
            }
        }
    }

    async fn wait_unless_closed(&self, pause: Duration, may_end: bool) -> bool {
        let ending = async {
            while !self.queue.lock().is_closed {
                self.queue.wait_for_change().await;
            }
        };
        tokio::select! {
            () = sleep(pause) => false,
            () = ending, if may_end => true,
        }
    }
}

pub(crate) fn backoff(first: Duration, longest: Duration) -> impl Iterator<Item = Duration> {
    let pauses = ExponentialBuilder::default().with_min_delay(first).with_max_delay(longest);
    pauses.without_max_times().with_jitter().build().map(move |pause| pause.min(longest))
}

fn remove_expired(sent: &mut VecDeque<Instant>, window: Duration) {
    while sent.front().is_some_and(|at| at.elapsed() >= window) {
        sent.pop_front();
    }
}

fn next_step(
    waiting: &mut QueueState,
    sent: &VecDeque<Instant>,
    pace: &DeliverySettings,
    most: usize,
    sender: &str,
) -> Step {
    if waiting.alerts.is_empty() {
        return if waiting.is_closed { Step::End } else { Step::Await };
    }
    // Critical alerts have their own budget, as large as the normal one.
    let is_critical = waiting.alerts.iter().any(|alert| alert.severity == Severity::Critical);
    let limit = pace.digest_after.max(1) * if is_critical { 2 } else { 1 };
    let left = limit.saturating_sub(sent.len());
    if left == 0
        && !waiting.is_closed
        && let Some(first) = sent.front()
    {
        return Step::Collect(*first + pace.digest_window);
    }
    let is_digest = waiting.is_closed || waiting.alerts.len() > left;
    let count = if is_digest { waiting.alerts.len().min(most.max(1)) } else { 1 };
    let alerts: Vec<_> = waiting.alerts.drain(..count.min(waiting.alerts.len())).collect();
    let dropped = std::mem::take(&mut waiting.dropped);
    waiting.counts.waiting = alerts.len() as u64;
    Step::Send(Message { id: new_message_id(), sender: sender.to_owned(), alerts, dropped })
}

fn new_message_id() -> String {
    let mut bytes = [0_u8; 16];
    // Without entropy, ids may repeat; the message is sent nevertheless.
    let _ = getrandom::fill(&mut bytes);
    format!("msg_{}", bytes.map(|byte| format!("{byte:02x}")).concat())
}

#[cfg(test)]
mod tests;
