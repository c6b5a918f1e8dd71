//! Streamed prices: a bounded queue between the adapter and the run.

use crate::clock::Hold;
use candlewick_sdk::Millis;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, Receiver, Sender};

/// A streamed price with its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceTick {
    /// Time of the price on the venue's clock.
    pub time: Millis,
    /// The price; finite and above 0.
    pub price: f64,
}

/// Receiver of a subscription. Dropping it ends the subscription.
#[derive(Debug)]
pub struct PriceFeed {
    ticks: Receiver<(PriceTick, Hold)>,
    dropped: Arc<AtomicU64>,
}

/// Sender of a subscription, for adapters. A slow reader never blocks the sender.
#[derive(Clone, Debug)]
pub struct PriceSender {
    ticks: Sender<(PriceTick, Hold)>,
    dropped: Arc<AtomicU64>,
}

impl PriceFeed {
    /// Creates a feed that buffers up to `capacity` prices.
    pub fn channel(capacity: usize) -> (PriceSender, Self) {
        let (sender, receiver) = mpsc::channel(capacity.max(1));
        let dropped = Arc::new(AtomicU64::new(0));
        let feed = Self { ticks: receiver, dropped: Arc::clone(&dropped) };
        (PriceSender { ticks: sender, dropped }, feed)
    }

    /// Returns the next price and a hold that stops a virtual clock; `None` after the end of the subscription.
    pub async fn next(&mut self) -> Option<(PriceTick, Hold)> {
        self.ticks.recv().await
    }

    /// Returns the next buffered price without waiting; `None` if the buffer is empty.
    pub fn try_next(&mut self) -> Option<(PriceTick, Hold)> {
        self.ticks.try_recv().ok()
    }

    /// Returns the number of prices dropped because the queue was full.
    pub fn dropped_prices(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl PriceSender {
    /// Sends a price, or counts it as dropped if the queue is full. Returns whether the feed still exists.
    ///
    /// `hold` stops a virtual clock until the price has been used. With the system clock, pass [`Hold::none`].
    pub fn send(&self, tick: PriceTick, hold: Hold) -> bool {
        match self.ticks.try_send((tick, hold)) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                true
            }
            Err(TrySendError::Closed(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, Speed, VirtualClock};

    #[tokio::test]
    async fn full_queue_drops_counts_and_never_blocks() {
        let (sender, mut feed) = PriceFeed::channel(2);
        let tick = |number: i64| PriceTick { time: Millis::new(number), price: 1.0 };
        for number in 0..5 {
            assert!(sender.send(tick(number), Hold::none()));
        }
        assert_eq!(feed.dropped_prices(), 3);
        let read = [feed.next().await, feed.try_next(), feed.try_next()];
        assert_eq!(read.map(|next| next.map(|(tick, _)| tick)), [Some(tick(0)), Some(tick(1)), None]);
        drop(feed);
        assert!(!sender.send(tick(6), Hold::none()), "the receiver is gone");
    }

    #[tokio::test]
    async fn clock_stops_until_a_price_has_been_used() {
        let clock = VirtualClock::new(Millis::ZERO, Speed::Max);
        let (sender, mut feed) = PriceFeed::channel(2);
        let held = clock.sleep_until(Millis::SECOND).await;
        let other = clock.clone();
        let later = tokio::spawn(async move { other.sleep_until(Millis::MINUTE).await });
        tokio::task::yield_now().await;
        assert!(sender.send(PriceTick { time: Millis::SECOND, price: 1.0 }, held));
        assert_eq!(clock.now(), Millis::SECOND, "the price waits");
        let (_, held) = feed.next().await.unwrap();
        assert_eq!(clock.now(), Millis::SECOND, "it is being used");
        drop(held);
        drop(later.await.unwrap());
        assert_eq!(clock.now(), Millis::MINUTE);
    }
}
