//! Rate limit of signals per minute.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

const WINDOW: Duration = Duration::from_mins(1);

/// A burst of `per_minute` signals, refilled over one minute (generic cell rate algorithm).
#[derive(Debug)]
pub(super) struct Rate {
    spacing: Duration,
    reserved_until: Mutex<Instant>,
}

impl Rate {
    pub(super) fn new(per_minute: u32) -> Self {
        Self { spacing: WINDOW / per_minute.max(1), reserved_until: Mutex::new(Instant::now()) }
    }

    /// Takes one signal; the error is the time until the next one is available.
    pub(super) fn take(&self) -> Result<(), Duration> {
        let now = Instant::now();
        let mut reserved_until = self.reserved_until.lock().unwrap_or_else(PoisonError::into_inner);
        let next = now.max(*reserved_until) + self.spacing;
        let wait = next.saturating_duration_since(now + WINDOW);
        if wait.is_zero() {
            *reserved_until = next;
            return Ok(());
        }
        Err(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn so_many_are_taken_at_once_and_as_many_again_in_each_minute() {
        let rate = Rate::new(3);
        let take = |times: usize| (0..times).filter(|_| rate.take().is_ok()).count();
        assert_eq!(take(10), 3);
        assert_eq!(rate.take(), Err(Duration::from_secs(20)));
        tokio::time::advance(Duration::from_millis(19_999)).await;
        assert_eq!(rate.take(), Err(Duration::from_millis(1)));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(take(10), 1);
        tokio::time::advance(Duration::from_hours(1)).await;
        assert_eq!(take(10), 3, "an hour saves up no more than a minute");
        tokio::time::advance(Duration::from_secs(40)).await;
        assert_eq!(take(10), 2);
    }
}
