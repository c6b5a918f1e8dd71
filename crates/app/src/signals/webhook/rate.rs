//! How many signals a minute are taken.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// So many at once, and as many again with each minute.
#[derive(Debug)]
pub(super) struct Rate {
    per_minute: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// In parts of one, so many to one as a minute has milliseconds.
    left: u64,
    at: Instant,
}

/// Parts of one.
const ONE: u64 = 60_000;

impl Rate {
    pub(super) fn new(per_minute: u32) -> Self {
        let left = u64::from(per_minute) * ONE;
        Self { per_minute, state: Mutex::new(State { left, at: Instant::now() }) }
    }

    /// Takes one.
    ///
    /// # Errors
    /// There is none left; when there will be one.
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
