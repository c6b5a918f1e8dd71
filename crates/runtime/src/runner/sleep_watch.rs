//! Notices that the process did not run for a while: the machine slept, or somebody stopped the process.

use candlewick_broker::clock::AwakeClock;
use std::time::Duration;

/// A run looks up at least as often as it renews its journal, every five seconds: whoever was away for longer than this was
/// stopped. It is well below the time after which others may take the journal.
const MAX_ABSENCE: Duration = Duration::from_secs(12);

/// When the process was last seen to run.
pub(crate) struct SleepWatch {
    clock: AwakeClock,
    seen: Duration,
}

impl SleepWatch {
    pub(crate) fn start() -> Self {
        let clock = AwakeClock::start();
        Self { clock, seen: clock.elapsed() }
    }

    /// What has passed until now was no absence.
    pub(crate) fn look_up(&mut self) {
        self.seen = self.clock.elapsed();
    }

    /// Whether the process has stood still since this was last asked.
    pub(crate) fn has_slept(&mut self) -> bool {
        let now = self.clock.elapsed();
        let absence = now.saturating_sub(std::mem::replace(&mut self.seen, now));
        absence > MAX_ABSENCE
    }
}
