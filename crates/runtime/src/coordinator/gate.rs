//! Holds back the events of one instant until all are known, so that they arrive in order.

use super::agenda::Job;
use candlewick_sdk::Millis;
use std::collections::BTreeMap;

/// Blocks events of an instant while its requests are pending, at most for the hold time.
#[derive(Debug)]
pub(crate) struct Gate {
    hold: Millis,
    awaited: BTreeMap<Job, Wait>,
}

/// Blocks events from `instant` on, until time `until`.
#[derive(Clone, Copy, Debug)]
struct Wait {
    instant: Millis,
    until: Millis,
}

impl Gate {
    /// A hold of zero becomes 1 ms, so that answers of the same instant are still awaited.
    pub(crate) fn new(hold: Millis) -> Self {
        Self { hold: hold.max(Millis::new(1)), awaited: BTreeMap::new() }
    }

    pub(crate) fn await_job(&mut self, instant: Millis, due: Millis, job: Job) {
        self.awaited.insert(job, Wait { instant, until: due + self.hold });
    }

    pub(crate) fn settle_job(&mut self, job: Job) {
        self.awaited.remove(&job);
    }

    pub(crate) fn opens_at(&self, at: Millis, now: Millis) -> Option<Millis> {
        let waits = self.awaited.values().filter(|wait| wait.instant <= at && now < wait.until);
        waits.map(|wait| wait.until).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::{IntentId, SeriesId};

    const CANDLES: Job = Job::Candles(SeriesId::FIRST);
    const TRADE: Job = Job::Trade(IntentId::new(1));

    #[test]
    fn an_instant_waits_for_its_jobs_but_not_beyond_the_hold() {
        let at = Millis::MINUTE;
        let mut gate = Gate::new(Millis::SECOND);
        gate.await_job(at, at, CANDLES);
        gate.await_job(at, at, TRADE);
        assert_eq!(gate.opens_at(at - Millis::new(1), at), None, "what is older passes");
        assert_eq!(gate.opens_at(at, at), Some(at + Millis::SECOND));
        gate.settle_job(CANDLES);
        assert_eq!(gate.opens_at(at, at + Millis::new(999)), Some(at + Millis::SECOND));
        assert_eq!(gate.opens_at(at, at + Millis::SECOND), None, "the hold is over");
    }

    #[test]
    fn an_older_wait_does_not_shorten_the_hold_of_an_instant() {
        let (at, half) = (Millis::MINUTE, Millis::new(500));
        let mut gate = Gate::new(Millis::SECOND);
        gate.await_job(at - half, at - half, TRADE);
        gate.await_job(at, at, CANDLES);
        assert_eq!(gate.opens_at(at - half, at), Some(at + half));
        assert_eq!(gate.opens_at(at, at + half), Some(at + Millis::SECOND));
    }

    #[test]
    fn the_hold_is_counted_from_the_first_question() {
        let (at, later) = (Millis::MINUTE, Millis::MINUTE + Millis::new(300));
        let mut gate = Gate::new(Millis::SECOND);
        gate.await_job(at, later, CANDLES);
        assert_eq!(gate.opens_at(at, later), Some(later + Millis::SECOND));
    }

    #[test]
    fn without_a_hold_answers_are_awaited_while_the_clock_stands() {
        let at = Millis::MINUTE;
        let mut gate = Gate::new(Millis::ZERO);
        gate.await_job(at, at, CANDLES);
        assert_eq!(gate.opens_at(at, at), Some(at + Millis::new(1)));
        gate.settle_job(CANDLES);
        assert_eq!(gate.opens_at(at, at), None);
    }
}
