//! The system clock, based on tokio's timer.

use super::{Clock, Hold};
use async_trait::async_trait;
use candlewick_sdk::Millis;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// Clock that reads the system time once and then follows tokio's timer. Wall-clock jumps have no effect.
#[derive(Clone, Debug)]
pub struct SystemClock {
    started: Instant,
    /// Unix time that corresponds to `started`, in ms.
    start_time: Arc<AtomicI64>,
    wall: fn() -> Millis,
}

/// Minimum correction by [`Clock::catch_up`]. Smaller lags behind the wall clock are ignored.
const MIN_CORRECTION: Millis = Millis::new(500);

impl SystemClock {
    /// Creates a clock set to the current system time.
    pub fn new() -> Self {
        Self::with_wall_clock(wall_time)
    }

    pub(crate) fn with_wall_clock(wall: fn() -> Millis) -> Self {
        Self { started: Instant::now(), start_time: Arc::new(AtomicI64::new(wall().get())), wall }
    }

    fn start_time(&self) -> Millis {
        Millis::new(self.start_time.load(Ordering::Relaxed))
    }
}

#[allow(clippy::disallowed_methods)] // this module is the clock
fn wall_time() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    Millis::new(i64::try_from(since).unwrap_or(i64::MAX))
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Millis {
        let elapsed = i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.start_time() + Millis::new(elapsed)
    }

    fn catch_up(&self) -> Millis {
        let behind = (self.wall)() - self.now();
        if behind < MIN_CORRECTION {
            return Millis::ZERO;
        }
        self.start_time.fetch_add(behind.get(), Ordering::Relaxed);
        behind
    }

    async fn sleep_until(&self, at: Millis) -> Hold {
        let wait = u64::try_from((at - self.start_time()).get()).unwrap_or(0);
        match self.started.checked_add(Duration::from_millis(wait)) {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
        Hold::none()
    }

    fn hold(&self) -> Hold {
        Hold::none()
    }

    fn is_virtual(&self) -> bool {
        false
    }

    fn is_lock_step(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn sleeps_until_the_requested_time() {
        let clock = SystemClock::new();
        let target = clock.now() + Millis::MINUTE;
        clock.sleep_until(target).await;
        assert_eq!(clock.now(), target);
        clock.sleep_until(target - Millis::HOUR).await;
        assert_eq!(clock.now(), target, "a moment that has passed is not waited for");
    }

    #[tokio::test(start_paused = true)]
    async fn wall_clock_jumps_move_it_only_forward_on_request() {
        static WALL: AtomicI64 = AtomicI64::new(1_000_000);
        let clock = SystemClock::with_wall_clock(|| Millis::new(WALL.load(Ordering::Relaxed)));
        for (wall, caught_up, now) in [
            // Ten minutes back, less than the minimum correction, an hour of sleep.
            (400_000, 0, 1_000_000),
            (1_000_499, 0, 1_000_000),
            (4_600_000, 3_600_000, 4_600_000),
            (4_600_000, 0, 4_600_000),
        ] {
            WALL.store(wall, Ordering::Relaxed);
            assert_eq!((clock.catch_up().get(), clock.now().get()), (caught_up, now));
        }
        clock.sleep_until(Millis::new(4_601_000)).await;
        assert_eq!(clock.now().get(), 4_601_000, "sleepers wake at the new time");
    }
}
