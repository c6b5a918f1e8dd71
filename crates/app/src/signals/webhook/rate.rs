//! Rate limit of signals per minute.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A token bucket: a burst of `per_minute` signals, refilled over one minute.
#[derive(Debug)]
pub(super) struct Rate {
    per_minute: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// In 1/60,000 of a signal, so that the refill per millisecond is a whole number.
    left: u64,
    at: Instant,
}

const ONE: u64 = 60_000;

impl Rate {
    pub(super) fn new(per_minute: u32) -> Self {
        let left = u64::from(per_minute) * ONE;
        Self { per_minute, state: Mutex::new(State { left, at: Instant::now() }) }
    }

    /// Takes one signal; the error is the time until the next one is available.
    pub(super) fn take(&self) -> Result<(), Duration> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let per_minute = u64::from(self.per_minute);
        let passed = u64::try_from(state.at.elapsed().as_millis()).unwrap_or(u64::MAX).min(ONE);
        state.at += Duration::from_millis(passed);
        if passed == ONE {
            state.at = Instant::now();
        }
        state.left = (state.left + passed * per_minute).min(per_minute * ONE);
        if let Some(left) = state.left.checked_sub(ONE) {
            state.left = left;
            return Ok(());
        }
        Err(Duration::from_millis((ONE - state.left).div_ceil(per_minute)))
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
