//! Scheduled jobs, each with its due time.

use candlewick_engine::{IntentId, SeriesId, SymbolId};
use candlewick_sdk::Millis;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Job {
    Departure(IntentId),
    /// Result of a trade, or fields that the response to its open lacked.
    Trade(IntentId),
    Balances,
    User,
    Trades,
    Candles(SeriesId),
    SettlementPrices,
    Price(SymbolId),
    StreamedPrice(SymbolId),
    Subscription(SymbolId),
}

#[derive(Debug, Default)]
pub(crate) struct Agenda {
    due: BTreeSet<(Millis, Job)>,
}

impl Agenda {
    /// Schedules a job once. Of two times the earlier wins, so that follow-up jobs cannot multiply.
    pub(crate) fn add(&mut self, at: Millis, job: Job) {
        let known = self.due.iter().find(|(_, known)| *known == job).copied();
        match known {
            Some((earlier, _)) if earlier <= at => return,
            Some(later) => {
                self.due.remove(&later);
            }
            None => {}
        }
        self.due.insert((at, job));
    }

    pub(crate) fn next_at(&self) -> Option<Millis> {
        self.due.first().map(|(at, _)| *at)
    }

    pub(crate) fn pop_due(&mut self, now: Millis) -> Option<(Millis, Job)> {
        if self.next_at()? <= now { self.due.pop_first() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_on_the_agenda_once_at_its_earlier_moment() {
        let mut agenda = Agenda::default();
        for at in [20, 10, 30] {
            agenda.add(Millis::new(at), Job::Trades);
        }
        assert_eq!(agenda.pop_due(Millis::MAX), Some((Millis::new(10), Job::Trades)));
        assert_eq!(agenda.next_at(), None);
    }

    #[test]
    fn jobs_come_by_moment_and_only_when_due() {
        let mut agenda = Agenda::default();
        let (early, late) = (Millis::new(10), Millis::new(20));
        agenda.add(late, Job::Balances);
        agenda.add(early, Job::Candles(SeriesId::FIRST));
        agenda.add(early, Job::Trade(IntentId::new(1)));
        assert_eq!(agenda.pop_due(Millis::new(9)), None);
        assert_eq!(agenda.pop_due(early), Some((early, Job::Trade(IntentId::new(1)))));
        assert_eq!(agenda.pop_due(early), Some((early, Job::Candles(SeriesId::FIRST))));
        assert_eq!((agenda.pop_due(early), agenda.next_at()), (None, Some(late)));
        assert_eq!(agenda.pop_due(late), Some((late, Job::Balances)));
        assert_eq!(agenda.next_at(), None);
    }
}
