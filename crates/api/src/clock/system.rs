//! The system's clock, on tokio's timer.

use super::{Clock, Hold};
use async_trait::async_trait;
use candlewick_sdk::Millis;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// The system's time, read once at the start and carried on by tokio's monotonic timer, so that a paused test
/// runtime moves it and a jump of the wall clock during a wait does not.
#[derive(Clone, Debug)]
pub struct SystemClock {
    started: Instant,
    epoch: Millis,
}

impl SystemClock {
    /// A clock that agrees with the system's now.
    #[allow(clippy::disallowed_methods)] // this module is the clock
    pub fn new() -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        Self { started: Instant::now(), epoch: Millis::new(i64::try_from(epoch).unwrap_or(i64::MAX)) }
    }
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
        self.epoch + Millis::new(elapsed)
    }

    async fn sleep_until(&self, at: Millis) -> Hold {
        let wait = u64::try_from((at - self.epoch).get()).unwrap_or(0);
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
    async fn sleeping_ends_at_the_asked_time() {
        let clock = SystemClock::new();
        let target = clock.now() + Millis::MINUTE;
        clock.sleep_until(target).await;
        assert_eq!(clock.now(), target);
        clock.sleep_until(target - Millis::HOUR).await;
        assert_eq!(clock.now(), target, "a moment that has passed is not waited for");
    }
}
