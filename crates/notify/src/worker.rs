//! Task of a channel: builds messages from its queue and sends each until accepted.

use crate::channel::Delivery;
use crate::failure::Failure;
use crate::message::Message;
use crate::notifier::{Counts, Pace};
use crate::queue::{Queue, Waiting};
use crate::{Severity, channel};
use backon::{BackoffBuilder, ExponentialBuilder};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout};

pub(crate) const DEADLINE: Duration = Duration::from_secs(10);
/// First pause after a failure; pauses about double up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);
/// Maximum pause a receiver may request, and lifetime of a rejected message.
const LONGEST_WISH: Duration = Duration::from_hours(1);
const LOGGED_EVERY: u64 = 20;

pub(crate) struct Worker {
    pub(crate) name: String,
    pub(crate) sender: String,
    pub(crate) queue: Arc<Queue>,
    pub(crate) delivery: Box<dyn Delivery>,
    pub(crate) pace: Pace,
    pub(crate) counts: Arc<Counts>,
}

#[derive(Debug, PartialEq)]
enum Next {
    Await,
    Collect(Instant),
    Send(Message),
    End,
}

impl Worker {
    pub(crate) async fn work(self) {
        let mut sent = VecDeque::new();
        loop {
            let next =
                next(&mut self.queue.lock(), &sent, &self.pace, self.delivery.most_alerts(), &self.sender);
            match next {
                Next::Await => self.queue.changed().await,
                Next::Collect(until) => {
                    tokio::select! {
                        () = sleep_until(until) => {}
                        () = self.queue.changed() => {}
                    }
                    forget(&mut sent, self.pace.digest_window);
                }
                Next::Send(message) => {
                    self.counts.in_hand.store(message.alerts.len() as u64, Ordering::Relaxed);
                    self.send(&message).await;
                    self.counts.in_hand.store(0, Ordering::Relaxed);
                    sent.push_back(Instant::now());
                    forget(&mut sent, self.pace.digest_window);
                }
                Next::End => return,
            }
        }
    }

    async fn send(&self, message: &Message) {
        let (mut pauses, mut failures, mut is_ending) = (pauses(), 0_u64, false);
        let begun = Instant::now();
        loop {
            let attempt = timeout(DEADLINE, self.delivery.deliver(message)).await;
            let reason = || format!("no answer within {} s", DEADLINE.as_secs());
            let attempt = attempt.unwrap_or_else(|_| Err(Failure::later(reason())));
            let attempt = attempt.map_err(|failure| match failure {
                // Perhaps what it says is to blame: it is given up, so that it holds back no other.
                Failure::TurnedAway { reason } if begun.elapsed() >= LONGEST_WISH => {
                    Failure::Refused { reason }
                }
                other => other,
            });
            match attempt {
                Ok(()) => {
                    self.counts.messages.fetch_add(1, Ordering::Relaxed);
                    self.counts.sent.fetch_add(message.alerts.len() as u64, Ordering::Relaxed);
                    if failures > 0 {
                        tracing::info!(channel = self.name, failures, "alerts are taken again");
                    }
                    return;
                }
                Err(Failure::Refused { reason }) => {
                    // What the message would have told of losses is told by the next one.
                    self.queue.lock().dropped += message.dropped;
                    self.counts.refused.fetch_add(message.alerts.len() as u64, Ordering::Relaxed);
                    let alerts = message.alerts.len();
                    tracing::warn!(
                        channel = self.name,
                        alerts,
                        reason,
                        "the receiver refuses a message; it is lost"
                    );
                    return;
                }
                Err(failure) => {
                    let after = failure.after();
                    failures += 1;
                    self.counts.retried.fetch_add(1, Ordering::Relaxed);
                    if failures % LOGGED_EVERY == 1 {
                        tracing::warn!(
                            channel = self.name,
                            failures,
                            reason = %failure,
                            "an alert was not taken; it is sent again"
                        );
                    }
                    // Whoever asks for no pause at all would be asked without end.
                    let wish = after.map(|wish| wish.clamp(FIRST_PAUSE, LONGEST_WISH));
                    let pause = wish.or_else(|| pauses.next()).unwrap_or(LONGEST_PAUSE);
                    // At the end there is no time for a long pause, unless the receiver asked for it.
                    if self.rest(pause, wish.is_none() && !is_ending).await {
                        is_ending = true;
                        pauses = self::pauses();
                    }
                }
            }
        }
    }

    async fn rest(&self, pause: Duration, may_end: bool) -> bool {
        let ending = async {
            while !self.queue.lock().is_closed {
                self.queue.changed().await;
            }
        };
        if !may_end {
            sleep(pause).await;
            return false;
        }
        tokio::select! {
            () = sleep(pause) => false,
            () = ending => true,
        }
    }
}

fn pauses() -> impl Iterator<Item = Duration> {
    let pauses = ExponentialBuilder::default().with_min_delay(FIRST_PAUSE).with_max_delay(LONGEST_PAUSE);
    pauses.without_max_times().with_jitter().build().map(|pause| pause.min(LONGEST_PAUSE))
}

fn forget(sent: &mut VecDeque<Instant>, window: Duration) {
    while sent.front().is_some_and(|at| at.elapsed() >= window) {
        sent.pop_front();
    }
}

fn next(waiting: &mut Waiting, sent: &VecDeque<Instant>, pace: &Pace, most: usize, sender: &str) -> Next {
    if waiting.alerts.is_empty() {
        return if waiting.is_closed { Next::End } else { Next::Await };
    }
    // What is critical finds room beyond what the rest has used up, and as much of it.
    let is_critical = waiting.alerts.iter().any(|alert| alert.severity == Severity::Critical);
    let limit = pace.digest_after.max(1) * if is_critical { 2 } else { 1 };
    let left = limit.saturating_sub(sent.len());
    if left == 0
        && !waiting.is_closed
        && let Some(first) = sent.front()
    {
        return Next::Collect(*first + pace.digest_window);
    }
    let is_digest = waiting.is_closed || waiting.alerts.len() > left;
    let count = if is_digest { waiting.alerts.len().min(most.max(1)) } else { 1 };
    let alerts = waiting.alerts.drain(..count.min(waiting.alerts.len())).collect();
    let dropped = std::mem::take(&mut waiting.dropped);
    Next::Send(Message { id: channel::new_id(), sender: sender.to_owned(), alerts, dropped })
}

#[cfg(test)]
mod tests;
