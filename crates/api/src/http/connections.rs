//! Limit on concurrent requests, with separate slots so that an open never waits for a read.

use candlewick_broker::Priority;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

#[derive(Debug)]
pub(super) struct Connections {
    reading: Arc<Places>,
    opening: Arc<Places>,
}

#[derive(Debug)]
struct Places {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    waiting: BTreeMap<(Priority, u64), oneshot::Sender<Place>>,
    count: u64,
}

#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoneFree;

impl Connections {
    pub(super) fn new(most: usize) -> Self {
        Self { reading: Places::new(most), opening: Places::new(most) }
    }

    pub(super) async fn to_read(&self, priority: Priority, longest: Duration) -> Result<Place, NoneFree> {
        self.reading.wait(priority, longest).await
    }

    pub(super) async fn to_open(&self, longest: Duration) -> Result<Place, NoneFree> {
        self.opening.wait(Priority::Trades, longest).await
    }
}

impl Places {
    fn new(free: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { free, waiting: BTreeMap::new(), count: 0 }) })
    }

    async fn wait(self: &Arc<Self>, priority: Priority, longest: Duration) -> Result<Place, NoneFree> {
        let (handed, receiver) = oneshot::channel();
        let waiter = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Ok(Place { places: Arc::clone(self) });
            }
            state.count += 1;
            let key = (priority, state.count);
            state.waiting.insert(key, handed);
            Waiter { places: self, key }
        };
        let place = timeout(longest, receiver).await;
        drop(waiter);
        place.map_err(|_| NoneFree)?.map_err(|_| NoneFree)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let next = {
            let mut state = self.places.state();
            let next = state.waiting.pop_first();
            if next.is_none() {
                state.free += 1;
            }
            next
        };
        if let Some((_, handed)) = next {
            // Where whoever waited has just given up, this place is dropped, and so handed on.
            drop(handed.send(Self { places: Arc::clone(&self.places) }));
        }
    }
}

struct Waiter<'a> {
    places: &'a Places,
    key: (Priority, u64),
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.places.state().waiting.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn of_a_thousand_at_once_no_more_are_under_way_than_there_are_places_and_all_have_their_turn() {
        let connections = Arc::new(Connections::new(7));
        let (under_way, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let start = Instant::now();
        let mut opens = Vec::new();
        for _ in 0..1_000 {
            let (connections, under_way, most) =
                (Arc::clone(&connections), Arc::clone(&under_way), Arc::clone(&most));
            opens.push(tokio::spawn(async move {
                let _place = connections.to_open(Duration::MAX).await.unwrap();
                most.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(10)).await;
                under_way.fetch_sub(1, Ordering::SeqCst);
            }));
        }
        for open in opens {
            open.await.unwrap();
        }
        // 143 rounds of seven, or a few less in the last.
        assert_eq!((most.load(Ordering::SeqCst), start.elapsed().as_millis()), (7, 1_430));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_worth_most_is_next_and_opens_wait_for_no_reading_request() {
        let connections = Arc::new(Connections::new(1));
        let held = connections.to_read(Priority::Trades, Duration::ZERO).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut waits = Vec::new();
        for (name, priority) in [
            ("shown", Priority::Display),
            ("candle 1", Priority::Candles),
            ("candle 2", Priority::Candles),
            ("trade", Priority::Trades),
        ] {
            let (connections, order) = (Arc::clone(&connections), Arc::clone(&order));
            waits.push(tokio::spawn(async move {
                let _place = connections.to_read(priority, Duration::MAX).await.unwrap();
                order.lock().unwrap().push(name);
            }));
            tokio::task::yield_now().await;
        }
        drop(connections.to_open(Duration::ZERO).await.unwrap());
        drop(held);
        for wait in waits {
            wait.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), ["trade", "candle 1", "candle 2", "shown"]);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_too_long_gives_up_and_takes_no_place_with_him() {
        let connections = Arc::new(Connections::new(1));
        let held = connections.to_open(Duration::ZERO).await.unwrap();
        let start = Instant::now();
        let refused = connections.to_open(Duration::from_millis(300)).await;
        assert_eq!((refused.unwrap_err(), start.elapsed().as_millis()), (NoneFree, 300));
        // One is handed the place and is gone before it takes it.
        let gone = {
            let connections = Arc::clone(&connections);
            tokio::spawn(async move { connections.to_open(Duration::MAX).await })
        };
        tokio::task::yield_now().await;
        drop(held);
        gone.abort();
        assert!(connections.to_open(Duration::from_secs(1)).await.is_ok());
    }
}
