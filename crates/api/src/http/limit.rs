//! Request limits: a rate limit with priorities, pauses for each host, and a connection limit.
//!
//! All limits use real time, even with a virtual clock.

use candlewick_broker::Priority;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout};

/// Rate limit that allows bursts of up to one second's quota. Reads are ordered by priority, then arrival.
/// An opening request waits only for earlier opening requests, and delays later reads.
#[derive(Debug)]
pub(super) struct RateLimit {
    spacing: Duration,
    tolerance: Duration,
    state: Mutex<RateState>,
    moved_up: Notify,
}

#[derive(Debug, Default)]
struct RateState {
    any: Option<Instant>,
    open: Option<Instant>,
    quiet: [Option<Instant>; 2],
    waiting: BTreeMap<Rank, Host>,
    count: u64,
}

type Rank = (Priority, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    First,
    Second,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestClass {
    Read(Priority),
    Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RateLimitTimeout {
    Rate(Duration),
    Quiet(Duration),
}

impl RateLimit {
    /// Creates a rate limit. `per_second` must be 0 (unlimited) or from 0.001 to 10,000.
    pub(super) fn new(per_second: f64) -> Self {
        let spacing =
            if per_second > 0.0 { Duration::from_secs_f64(1.0 / per_second) } else { Duration::ZERO };
        let burst = per_second.floor().max(1.0) as u32;
        let tolerance = spacing * (burst - 1);
        Self { spacing, tolerance, state: Mutex::default(), moved_up: Notify::new() }
    }

    /// Pauses all requests to a host. An earlier pause is never shortened.
    pub(super) fn pause_host(&self, host: Host, pause: Duration) {
        let until = Instant::now() + pause;
        let mut state = self.state();
        let quiet = &mut state.quiet[host as usize];
        *quiet = Some(quiet.map_or(until, |known| known.max(until)));
    }

    pub(super) async fn wait(
        &self,
        host: Host,
        turn: RequestClass,
        max_wait: Duration,
    ) -> Result<(), RateLimitTimeout> {
        match turn {
            RequestClass::Open => self.wait_open(host, max_wait).await,
            RequestClass::Read(priority) => self.wait_read(host, priority, max_wait).await,
        }
    }

    pub(super) fn count_waiting_requests(&self) -> BTreeMap<Priority, usize> {
        let mut waiting = BTreeMap::new();
        for (priority, _) in self.state().waiting.keys() {
            *waiting.entry(*priority).or_default() += 1;
        }
        waiting
    }

    async fn wait_open(&self, host: Host, max_wait: Duration) -> Result<(), RateLimitTimeout> {
        let now = Instant::now();
        let deadline = now.checked_add(max_wait);
        let mut at = self.reserve(host, now, deadline)?;
        loop {
            tokio::time::sleep_until(at).await;
            // The host may have requested a pause during the wait.
            match self.state().paused_until(host, Instant::now()) {
                None => return Ok(()),
                Some(until) if is_late(until, deadline) => {
                    return Err(RateLimitTimeout::Quiet(until.duration_since(Instant::now())));
                }
                Some(until) => at = until,
            }
        }
    }

    fn reserve(
        &self,
        host: Host,
        now: Instant,
        deadline: Option<Instant>,
    ) -> Result<Instant, RateLimitTimeout> {
        let mut state = self.state();
        if let Some(until) = state.paused_until(host, now).filter(|until| is_late(*until, deadline)) {
            return Err(RateLimitTimeout::Quiet(until.duration_since(now)));
        }
        let [any, open] = [state.any, state.open].map(|due| due.map_or(now, |due| due.max(now)));
        let at = open.checked_sub(self.tolerance).map_or(now, |at| at.max(now));
        if is_late(at, deadline) {
            return Err(RateLimitTimeout::Rate(at.duration_since(now)));
        }
        (state.any, state.open) = (Some(any + self.spacing), Some(open + self.spacing));
        Ok(at)
    }

    async fn wait_read(
        &self,
        host: Host,
        priority: Priority,
        max_wait: Duration,
    ) -> Result<(), RateLimitTimeout> {
        let deadline = Instant::now().checked_add(max_wait);
        let waiter = QueuedRead::new(self, host, priority);
        loop {
            let moved_up = self.moved_up.notified();
            tokio::pin!(moved_up);
            moved_up.as_mut().enable();
            let at = match self.try_take_read_slot(waiter.place, host, Instant::now()) {
                ReadSlot::Now => return Ok(()),
                ReadSlot::At(at) if is_late(at, deadline) => {
                    return Err(RateLimitTimeout::Rate(at.duration_since(Instant::now())));
                }
                ReadSlot::Quiet(at) if is_late(at, deadline) => {
                    return Err(RateLimitTimeout::Quiet(at.duration_since(Instant::now())));
                }
                ReadSlot::At(at) | ReadSlot::Quiet(at) => at,
            };
            tokio::select! {
                () = tokio::time::sleep_until(at) => {}
                () = moved_up => {}
            }
        }
    }

    fn try_take_read_slot(&self, place: Rank, host: Host, now: Instant) -> ReadSlot {
        let mut state = self.state();
        if let Some(until) = state.paused_until(host, now) {
            return ReadSlot::Quiet(until);
        }
        // Requests to a paused host do not block requests to other hosts.
        let is_ahead = |host: &Host| state.paused_until(*host, now).is_none();
        let ahead = state.waiting.range(..place).filter(|(_, host)| is_ahead(host)).count();
        let due = state.any.map_or(now, |due| due.max(now));
        let behind = self.spacing * u32::try_from(ahead).unwrap_or(u32::MAX);
        let at = (due + behind).checked_sub(self.tolerance).unwrap_or(now);
        if at > now || (ahead > 0 && !self.spacing.is_zero()) {
            return ReadSlot::At(at.max(now + self.spacing.min(RECHECK_DELAY)));
        }
        state.any = Some(due + self.spacing);
        state.waiting.remove(&place);
        ReadSlot::Now
    }

    fn state(&self) -> MutexGuard<'_, RateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Delay before a read that is due, but not first in the queue, tries again.
const RECHECK_DELAY: Duration = Duration::from_millis(1);

enum ReadSlot {
    Now,
    At(Instant),
    Quiet(Instant),
}

impl RateState {
    fn paused_until(&self, host: Host, now: Instant) -> Option<Instant> {
        self.quiet[host as usize].filter(|until| *until > now)
    }
}

struct QueuedRead<'a> {
    limit: &'a RateLimit,
    place: Rank,
}

impl<'a> QueuedRead<'a> {
    fn new(limit: &'a RateLimit, host: Host, priority: Priority) -> Self {
        let mut state = limit.state();
        state.count += 1;
        let place = (priority, state.count);
        state.waiting.insert(place, host);
        Self { limit, place }
    }
}

impl Drop for QueuedRead<'_> {
    fn drop(&mut self) {
        if self.limit.state().waiting.remove(&self.place).is_some() {
            self.limit.moved_up.notify_waiters();
        }
    }
}

fn is_late(at: Instant, deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| at > deadline)
}

#[derive(Debug)]
pub(super) struct ConnectionLimit {
    reading: Arc<Permits>,
    opening: Arc<Permits>,
}

#[derive(Debug)]
struct Permits(Mutex<PermitState>);

#[derive(Debug)]
struct PermitState {
    free: usize,
    waiting: BTreeMap<(Priority, u64), oneshot::Sender<Permit>>,
    count: u64,
}

#[derive(Debug)]
pub(super) struct Permit {
    permits: Arc<Permits>,
}

impl ConnectionLimit {
    pub(super) fn new(max_connections: usize) -> Self {
        Self { reading: Permits::new(max_connections), opening: Permits::new(max_connections) }
    }

    pub(super) async fn acquire_read(&self, priority: Priority, max_wait: Duration) -> Option<Permit> {
        self.reading.acquire(priority, max_wait).await
    }

    pub(super) async fn acquire_open(&self, max_wait: Duration) -> Option<Permit> {
        self.opening.acquire(Priority::Trades, max_wait).await
    }
}

impl Permits {
    fn new(free: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(PermitState { free, waiting: BTreeMap::new(), count: 0 })))
    }

    async fn acquire(self: &Arc<Self>, priority: Priority, max_wait: Duration) -> Option<Permit> {
        let (sender, receiver) = oneshot::channel();
        let waiter = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Some(Permit { permits: Arc::clone(self) });
            }
            state.count += 1;
            let key = (priority, state.count);
            state.waiting.insert(key, sender);
            PermitWaiter { permits: self, key }
        };
        let place = timeout(max_wait, receiver).await;
        drop(waiter);
        place.ok()?.ok()
    }

    fn state(&self) -> MutexGuard<'_, PermitState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let next = {
            let mut state = self.permits.state();
            let next = state.waiting.pop_first();
            if next.is_none() {
                state.free += 1;
            }
            next
        };
        if let Some((_, sender)) = next {
            // If the waiter has just timed out, dropping the unsent permit passes it to the next waiter.
            drop(sender.send(Self { permits: Arc::clone(&self.permits) }));
        }
    }
}

struct PermitWaiter<'a> {
    permits: &'a Permits,
    key: (Priority, u64),
}

impl Drop for PermitWaiter<'_> {
    fn drop(&mut self) {
        self.permits.state().waiting.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const READ: RequestClass = RequestClass::Read(Priority::Candles);

    async fn turns(limit: &Arc<RateLimit>, turn: RequestClass, count: usize) -> Vec<u128> {
        let start = Instant::now();
        let wait = |limit: Arc<RateLimit>| async move {
            limit.wait(Host::First, turn, Duration::MAX).await.unwrap();
            start.elapsed().as_millis()
        };
        let waits: Vec<_> = (0..count).map(|_| tokio::spawn(wait(Arc::clone(limit)))).collect();
        let mut turns = Vec::new();
        for wait in waits {
            turns.push(wait.await.unwrap());
        }
        turns
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_the_rest_is_spaced() {
        let limit = Arc::new(RateLimit::new(5.0));
        assert_eq!(turns(&limit, READ, 8).await, [0, 0, 0, 0, 0, 200, 400, 600]);
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(turns(&limit, READ, 6).await, [0, 0, 0, 0, 0, 200]);
    }

    #[tokio::test(start_paused = true)]
    async fn open_overtakes_reads_and_delays_them() {
        let limit = Arc::new(RateLimit::new(2.0));
        assert_eq!(turns(&limit, READ, 2).await, [0, 0]);
        assert_eq!(turns(&limit, RequestClass::Open, 3).await, [0, 0, 500]);
        // Five requests were sent in the first half second. The sixth is due after 2.0 s and the seventh after 2.5 s.
        assert_eq!(turns(&limit, READ, 2).await, [1_500, 2_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn reads_are_ordered_by_priority_then_waiting_time() {
        let limit = Arc::new(RateLimit::new(1.0));
        limit.wait(Host::First, READ, Duration::ZERO).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut waits = Vec::new();
        for (name, priority) in [
            ("shown", Priority::Display),
            ("price", Priority::Prices),
            ("candle 1", Priority::Candles),
            ("candle 2", Priority::Candles),
            ("trade", Priority::Trades),
        ] {
            let (limit, order) = (Arc::clone(&limit), Arc::clone(&order));
            waits.push(tokio::spawn(async move {
                limit.wait(Host::First, RequestClass::Read(priority), Duration::MAX).await.unwrap();
                order.lock().unwrap().push(name);
            }));
            tokio::task::yield_now().await;
        }
        for wait in waits {
            wait.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), ["trade", "candle 1", "candle 2", "price", "shown"]);
    }

    #[tokio::test(start_paused = true)]
    async fn gives_up_a_late_turn_without_consuming_it() {
        let limit = Arc::new(RateLimit::new(0.5));
        for turn in [RequestClass::Open, READ] {
            tokio::time::sleep(Duration::from_secs(100)).await;
            assert_eq!(turns(&limit, turn, 1).await, [0]);
            for _ in 0..3 {
                let refused = limit.wait(Host::First, turn, Duration::from_secs(1)).await;
                assert_eq!(refused, Err(RateLimitTimeout::Rate(Duration::from_secs(2))));
            }
            assert_eq!(turns(&limit, turn, 1).await, [2_000]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn waiters_move_up_when_one_gives_up() {
        let limit = Arc::new(RateLimit::new(1.0));
        limit.wait(Host::First, READ, Duration::ZERO).await.unwrap();
        let first = {
            let limit = Arc::clone(&limit);
            tokio::spawn(async move { limit.wait(Host::First, READ, Duration::MAX).await })
        };
        tokio::task::yield_now().await;
        let start = Instant::now();
        let second = turns(&limit, READ, 1);
        tokio::pin!(second);
        assert!(tokio::time::timeout(Duration::from_millis(100), &mut second).await.is_err());
        first.abort();
        second.await;
        assert_eq!(start.elapsed().as_millis(), 1_000);
    }

    #[tokio::test(start_paused = true)]
    async fn pause_applies_to_one_host_only() {
        let (start, limit) = (Instant::now(), Arc::new(RateLimit::new(1.0)));
        limit.wait(Host::First, READ, Duration::ZERO).await.unwrap();
        let waits = turns(&limit, READ, 1);
        tokio::pin!(waits);
        assert!(tokio::time::timeout(Duration::from_millis(100), &mut waits).await.is_err());
        limit.pause_host(Host::First, Duration::from_secs(5));
        limit.pause_host(Host::First, Duration::from_secs(1));
        for turn in [READ, RequestClass::Open] {
            let refused = limit.wait(Host::First, turn, Duration::from_secs(4)).await;
            assert_eq!(refused, Err(RateLimitTimeout::Quiet(Duration::from_secs(5))), "{turn:?}");
        }
        limit.wait(Host::Second, READ, Duration::from_secs(1)).await.unwrap();
        assert_eq!(start.elapsed().as_millis(), 1_000);
        waits.await;
        assert_eq!(start.elapsed().as_millis(), 5_100);
    }

    #[tokio::test(start_paused = true)]
    async fn unlimited_rate_waits_only_for_a_paused_host() {
        let (start, none) = (Instant::now(), Arc::new(RateLimit::new(0.0)));
        for turn in [READ, RequestClass::Open] {
            assert!(turns(&none, turn, 1_000).await.iter().all(|wait| *wait == 0));
        }
        none.pause_host(Host::First, Duration::from_secs(1));
        turns(&none, READ, 3).await;
        assert_eq!(start.elapsed().as_millis(), 1_000);
    }

    #[tokio::test(start_paused = true)]
    async fn thousand_requests_share_the_permits() {
        let connections = Arc::new(ConnectionLimit::new(7));
        let (under_way, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let start = Instant::now();
        let mut opens = Vec::new();
        for _ in 0..1_000 {
            let (connections, under_way, most) =
                (Arc::clone(&connections), Arc::clone(&under_way), Arc::clone(&most));
            opens.push(tokio::spawn(async move {
                let _permit = connections.acquire_open(Duration::MAX).await.unwrap();
                most.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(10)).await;
                under_way.fetch_sub(1, Ordering::SeqCst);
            }));
        }
        for open in opens {
            open.await.unwrap();
        }
        // There are 143 rounds of seven requests, with fewer requests in the last round.
        assert_eq!((most.load(Ordering::SeqCst), start.elapsed().as_millis()), (7, 1_430));
    }

    #[tokio::test(start_paused = true)]
    async fn permits_go_by_priority_and_opens_have_their_own() {
        let connections = Arc::new(ConnectionLimit::new(1));
        let held = connections.acquire_read(Priority::Trades, Duration::ZERO).await.unwrap();
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
                let _permit = connections.acquire_read(priority, Duration::MAX).await.unwrap();
                order.lock().unwrap().push(name);
            }));
            tokio::task::yield_now().await;
        }
        drop(connections.acquire_open(Duration::ZERO).await.unwrap());
        drop(held);
        for wait in waits {
            wait.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), ["trade", "candle 1", "candle 2", "shown"]);
    }

    #[tokio::test(start_paused = true)]
    async fn timed_out_waiter_returns_its_permit() {
        let connections = Arc::new(ConnectionLimit::new(1));
        let held = connections.acquire_open(Duration::ZERO).await.unwrap();
        let start = Instant::now();
        assert!(connections.acquire_open(Duration::from_millis(300)).await.is_none());
        assert_eq!(start.elapsed().as_millis(), 300);
        // One waiter gets the permit, but is dropped before it takes the permit.
        let gone = {
            let connections = Arc::clone(&connections);
            tokio::spawn(async move { connections.acquire_open(Duration::MAX).await })
        };
        tokio::task::yield_now().await;
        drop(held);
        gone.abort();
        assert!(connections.acquire_open(Duration::from_secs(1)).await.is_some());
    }
}
