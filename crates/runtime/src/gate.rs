//! Events of one instant wait for each other, so that they can be told in the order of the rules.

use crate::agenda::Job;
use candlewick_sdk::Millis;
use std::collections::BTreeSet;

/// Closed from an instant on while answers that belong to it are awaited, but never longer than the hold.
#[derive(Debug)]
pub(crate) struct Gate {
    hold: Millis,
    instant: Millis,
    awaited: BTreeSet<Job>,
}

impl Gate {
    pub(crate) const fn new(hold: Millis) -> Self {
        Self { hold, instant: Millis::ZERO, awaited: BTreeSet::new() }
    }

    /// A job that was due at `due` has begun at `now`; events from its instant on wait for it.
    pub(crate) fn await_job(&mut self, due: Millis, now: Millis, job: Job) {
        if !self.is_closed(now) {
            self.awaited.clear();
            self.instant = due;
        }
        self.instant = self.instant.min(due);
        self.awaited.insert(job);
    }

    /// A job has brought what it was to bring, or never will.
    pub(crate) fn settle_job(&mut self, job: Job) {
        self.awaited.remove(&job);
    }

    /// Whether an event of the moment `at` may be told at `now`.
    pub(crate) fn lets_pass(&self, at: Millis, now: Millis) -> bool {
        at < self.instant || !self.is_closed(now)
    }

    /// When the gate opens by itself; none while it is open.
    pub(crate) fn opens_at(&self, now: Millis) -> Option<Millis> {
        self.is_closed(now).then(|| self.instant + self.hold)
    }

    fn is_closed(&self, now: Millis) -> bool {
        // With no hold at all, the first answers are still awaited: the clock stands still meanwhile.
        let over = now - self.instant >= self.hold && now > self.instant;
        !self.awaited.is_empty() && !over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::{IntentId, SeriesId};

    const CANDLES: Job = Job::Candles(SeriesId::FIRST);

    #[test]
    fn an_instant_waits_for_its_jobs_but_not_beyond_the_hold() {
        let at = Millis::MINUTE;
        let mut gate = Gate::new(Millis::SECOND);
        gate.await_job(at, at, CANDLES);
        gate.await_job(at, at, Job::Trade(IntentId::new(1)));
        assert!(gate.lets_pass(at - Millis::new(1), at), "what is older passes");
        assert!(!gate.lets_pass(at, at));
        gate.settle_job(CANDLES);
        assert_eq!(gate.opens_at(at), Some(at + Millis::SECOND));
        assert!(!gate.lets_pass(at, at + Millis::new(999)));
        assert!(gate.lets_pass(at, at + Millis::SECOND), "the hold is over");
    }

    #[test]
    fn it_opens_when_all_have_answered() {
        let mut gate = Gate::new(Millis::ZERO);
        gate.await_job(Millis::MINUTE, Millis::MINUTE, CANDLES);
        assert!(
            !gate.lets_pass(Millis::MINUTE, Millis::MINUTE),
            "even without a hold the first answer is awaited"
        );
        gate.settle_job(CANDLES);
        assert!(gate.lets_pass(Millis::MINUTE, Millis::MINUTE));
        assert_eq!(gate.opens_at(Millis::MINUTE), None);
    }
}
