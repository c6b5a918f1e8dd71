//! Detects that the process was suspended, with the machine or by a signal.

use candlewick_broker::clock::AwakeClock;
use std::time::Duration;

/// Longest gap between two checks that does not count as a suspension.
///
/// A run checks at least every five seconds, when it renews its journal. The limit is well below
/// the time after which another process may take the journal.
const MAX_ABSENCE: Duration = Duration::from_secs(12);

pub(crate) struct SleepWatch {
    clock: AwakeClock,
    seen: Duration,
}

impl SleepWatch {
    pub(crate) fn start() -> Self {
        let clock = AwakeClock::start();
        Self { clock, seen: clock.elapsed() }
    }

    pub(crate) fn look_up(&mut self) {
        self.seen = self.clock.elapsed();
    }

    pub(crate) fn absence(&mut self) -> Option<Duration> {
        self.absence_until(self.clock.elapsed())
    }

    fn absence_until(&mut self, now: Duration) -> Option<Duration> {
        let absence = now.saturating_sub(std::mem::replace(&mut self.seen, now));
        Some(absence).filter(|absence| *absence > MAX_ABSENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::RENEWAL;
    use candlewick_journal::LeaseTerms;

    #[test]
    fn whoever_was_away_for_more_than_two_renewals_has_slept_once() {
        let mut watch = SleepWatch::start();
        assert_eq!(watch.absence(), None, "it has just begun");
        let mut now = watch.clock.elapsed();
        let mut seen_after = |seconds: u64| {
            now += Duration::from_secs(seconds);
            watch.absence_until(now).map(|absence| absence.as_secs())
        };
        let found = [5, 12, 13, 0, 3_600, 12].map(&mut seen_after);
        assert_eq!(found, [None, None, Some(13), None, Some(3_600), None]);
    }

    /// Who sleeps for less than is noticed still holds its journal.
    #[test]
    fn an_absence_is_noticed_before_another_may_take_the_journal() {
        let lease = Duration::from_millis(LeaseTerms::default().duration.get().unsigned_abs());
        assert!(RENEWAL + MAX_ABSENCE < lease);
    }
}
