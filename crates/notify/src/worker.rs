//! Task of a channel: builds messages from its queue and sends each until accepted.

use crate::alert::{Message, Severity};
use crate::channel::Delivery;
use crate::http::Failure;
use crate::notifier::{Pace, Queue, Waiting};
use backon::{BackoffBuilder, ExponentialBuilder};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout};

pub(crate) const DEADLINE: Duration = Duration::from_secs(10);
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
                    self.send(&message).await;
                    self.queue.lock().counts.waiting = 0;
                    sent.push_back(Instant::now());
                    forget(&mut sent, self.pace.digest_window);
                }
                Next::End => return,
            }
        }
    }

    async fn send(&self, message: &Message) {
        let (mut pauses, mut failures, mut is_ending) = (backoff(FIRST_PAUSE, LONGEST_PAUSE), 0_u64, false);
        let (begun, alerts) = (Instant::now(), message.alerts.len());
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
                    let mut waiting = self.queue.lock();
                    waiting.counts.messages += 1;
                    waiting.counts.sent += alerts as u64;
                    if failures > 0 {
                        tracing::info!(channel = self.name, failures, "alerts are taken again");
                    }
                    return;
                }
                Err(Failure::Refused { reason }) => {
                    // What the message would have told of losses is told by the next one.
                    let mut waiting = self.queue.lock();
                    waiting.dropped += message.dropped;
                    waiting.counts.refused += alerts as u64;
                    let text = "the receiver refuses a message; it is lost";
                    tracing::warn!(channel = self.name, alerts, reason, "{text}");
                    return;
                }
                Err(failure) => {
                    failures += 1;
                    self.queue.lock().counts.retried += 1;
                    if failures % LOGGED_EVERY == 1 {
                        let text = "an alert was not taken; it is sent again";
                        tracing::warn!(channel = self.name, failures, reason = %failure, "{text}");
                    }
                    // Whoever asks for no pause at all would be asked without end.
                    let wish = failure.after().map(|wish| wish.clamp(FIRST_PAUSE, LONGEST_WISH));
                    let pause = wish.or_else(|| pauses.next()).unwrap_or(LONGEST_PAUSE);
                    // At the end there is no time for a long pause, unless the receiver asked for it.
                    if self.rest(pause, wish.is_none() && !is_ending).await {
                        is_ending = true;
                        pauses = backoff(FIRST_PAUSE, LONGEST_PAUSE);
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
    let alerts: Vec<_> = waiting.alerts.drain(..count.min(waiting.alerts.len())).collect();
    let dropped = std::mem::take(&mut waiting.dropped);
    waiting.counts.waiting = alerts.len() as u64;
    Next::Send(Message { id: new_id(), sender: sender.to_owned(), alerts, dropped })
}

fn new_id() -> String {
    let mut bytes = [0_u8; 16];
    // Without chance a receiver cannot tell two messages apart, which is no reason to send none.
    let _ = getrandom::fill(&mut bytes);
    format!("msg_{}", bytes.map(|byte| format!("{byte:02x}")).concat())
}

#[cfg(test)]
mod tests;
