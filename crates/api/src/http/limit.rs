//! Keeps requests to a rate. Wall time: a venue's limit does not know of virtual clocks.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// At most so many requests per second, with a burst of one second's worth.
#[derive(Debug)]
pub(super) struct RateLimit {
    /// Time between requests; zero means no limit.
    spacing: Duration,
    /// How far ahead of an even pace a burst may run.
    tolerance: Duration,
    /// When the next request is due at an even pace.
    due: Mutex<Option<Instant>>,
}

/// The wait that a request's turn would take is longer than the caller can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong(pub(super) Duration);

impl RateLimit {
    /// `per_second` is 0 (no limit) or from 0.001 to 10,000, as the settings were checked.
    pub(super) fn new(per_second: f64) -> Self {
        let spacing =
            if per_second > 0.0 { Duration::from_secs_f64(1.0 / per_second) } else { Duration::ZERO };
        let burst = per_second.floor().max(1.0) as u32;
        Self { spacing, tolerance: spacing * (burst - 1), due: Mutex::new(None) }
    }

    /// Waits for a request's turn, or gives the turn up at once when it is further off than `longest`.
    pub(super) async fn wait(&self, longest: Duration) -> Result<(), TooLong> {
        let wait = self.reserve(Instant::now(), longest)?;
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }

    fn reserve(&self, now: Instant, longest: Duration) -> Result<Duration, TooLong> {
        if self.spacing.is_zero() {
            return Ok(Duration::ZERO);
        }
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let at = due.map_or(now, |due| due.max(now));
        let wait = at.duration_since(now).saturating_sub(self.tolerance);
        if wait > longest {
            return Err(TooLong(wait));
        }
        *due = Some(at + self.spacing);
        Ok(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_the_rest_is_spaced() {
        let limit = RateLimit::new(5.0);
        let start = Instant::now();
        let waits: Vec<_> =
            (0..8).map(|_| limit.reserve(start, Duration::MAX).unwrap().as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 200, 400, 600]);
        // Ten quiet seconds fill the burst and no more.
        let later = start + Duration::from_secs(10);
        let waits: Vec<_> =
            (0..6).map(|_| limit.reserve(later, Duration::MAX).unwrap().as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 200]);
    }

    #[test]
    fn a_turn_too_far_off_is_given_up_without_taking_it() {
        let limit = RateLimit::new(0.5);
        let now = Instant::now();
        assert_eq!(limit.reserve(now, Duration::ZERO), Ok(Duration::ZERO));
        for _ in 0..3 {
            assert_eq!(limit.reserve(now, Duration::from_secs(1)), Err(TooLong(Duration::from_secs(2))));
        }
        assert_eq!(limit.reserve(now, Duration::from_secs(2)), Ok(Duration::from_secs(2)));
    }

    #[tokio::test(start_paused = true)]
    async fn no_limit_never_waits_and_a_limit_does() {
        let start = Instant::now();
        for _ in 0..1_000 {
            RateLimit::new(0.0).wait(Duration::ZERO).await.unwrap();
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        let limit = RateLimit::new(1.0);
        for _ in 0..3 {
            limit.wait(Duration::MAX).await.unwrap();
        }
        assert_eq!(start.elapsed().as_millis(), 2_000);
    }
}
