//! Keeps requests to a rate. Wall time: a venue's limit does not know of virtual clocks.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// At most so many requests per second, with a burst of one second's worth.
///
/// An open is worth nothing late, so it does not queue behind reading requests: it waits for earlier opens
/// only, and the reading requests that follow make up for it.
#[derive(Debug)]
pub(super) struct RateLimit {
    /// Time between requests; zero means no limit.
    spacing: Duration,
    /// How far ahead of an even pace a burst may run.
    tolerance: Duration,
    due: Mutex<Due>,
}

/// When the next request is due at an even pace.
#[derive(Debug, Default)]
struct Due {
    any: Option<Instant>,
    open: Option<Instant>,
}

/// What wants a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// A reading request.
    Read,
    /// An open.
    Open,
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
        Self { spacing, tolerance: spacing * (burst - 1), due: Mutex::default() }
    }

    /// Waits for a request's turn, or gives the turn up at once when it is further off than `longest`.
    pub(super) async fn wait(&self, turn: Turn, longest: Duration) -> Result<(), TooLong> {
        let wait = self.reserve(turn, Instant::now(), longest)?;
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }

    fn reserve(&self, turn: Turn, now: Instant, longest: Duration) -> Result<Duration, TooLong> {
        if self.spacing.is_zero() {
            return Ok(Duration::ZERO);
        }
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let not_before_now = |due: Option<Instant>| due.map_or(now, |due| due.max(now));
        let (any, open) = (not_before_now(due.any), not_before_now(due.open));
        let at = match turn {
            Turn::Read => any,
            Turn::Open => open,
        };
        let wait = at.duration_since(now).saturating_sub(self.tolerance);
        if wait > longest {
            return Err(TooLong(wait));
        }
        due.any = Some(any + self.spacing);
        if turn == Turn::Open {
            due.open = Some(open + self.spacing);
        }
        Ok(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(limit: &RateLimit, turn: Turn, now: Instant, waits: &[u128]) {
        for expected in waits {
            let wait = limit.reserve(turn, now, Duration::MAX).unwrap();
            assert_eq!(wait.as_millis(), *expected, "{turn:?}");
        }
    }

    #[test]
    fn a_burst_passes_and_the_rest_is_spaced() {
        let (limit, start) = (RateLimit::new(5.0), Instant::now());
        check(&limit, Turn::Read, start, &[0, 0, 0, 0, 0, 200, 400, 600]);
        // Ten quiet seconds fill the burst and no more.
        check(&limit, Turn::Read, start + Duration::from_secs(10), &[0, 0, 0, 0, 0, 200]);
    }

    #[test]
    fn an_open_overtakes_reading_requests_and_they_make_up_for_it() {
        let (limit, start) = (RateLimit::new(2.0), Instant::now());
        check(&limit, Turn::Read, start, &[0, 0, 500, 1_000]);
        check(&limit, Turn::Open, start, &[0, 0, 500]);
        check(&limit, Turn::Read, start, &[3_000]);
    }

    #[test]
    fn a_turn_too_far_off_is_given_up_without_taking_it() {
        let (limit, now) = (RateLimit::new(0.5), Instant::now());
        check(&limit, Turn::Open, now, &[0]);
        for _ in 0..3 {
            let refused = limit.reserve(Turn::Open, now, Duration::from_secs(1));
            assert_eq!(refused, Err(TooLong(Duration::from_secs(2))));
        }
        check(&limit, Turn::Open, now, &[2_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn no_limit_never_waits_and_a_limit_does() {
        let start = Instant::now();
        let none = RateLimit::new(0.0);
        for _ in 0..1_000 {
            none.wait(Turn::Read, Duration::ZERO).await.unwrap();
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        let limit = RateLimit::new(1.0);
        for _ in 0..3 {
            limit.wait(Turn::Read, Duration::MAX).await.unwrap();
        }
        assert_eq!(start.elapsed().as_millis(), 2_000);
    }
}
