//! Scheduled jobs and the event queue. A gate delays events while other events of the same instant are pending.

use candlewick_engine::{EventKind, IntentId, SeriesId, SymbolId};
use candlewick_sdk::Millis;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Job {
    Departure(IntentId),
    /// Request a trade's result, or the fields that were missing when the trade opened.
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
    /// Schedules a job. If the job is already scheduled, it runs at the earlier of the two times.
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

/// Sort key for events at the same instant. Settlements are sorted by close time and intent, answers by intent,
/// candles by series, and prices by symbol. A `Consequence` is handled 1 ms after its instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EventRank {
    Settlement(Millis, IntentId),
    Answer(IntentId),
    Balance,
    Candle(usize),
    Signal,
    Price(usize),
    Consequence(IntentId),
}

impl EventRank {
    fn ready_at(self, instant: Millis) -> Millis {
        match self {
            Self::Consequence(_) => instant + Millis::new(1),
            _ => instant,
        }
    }
}

#[derive(Debug)]
pub(crate) struct EventQueue {
    pub(crate) gate: EventGate,
    events: BTreeMap<(Millis, EventRank, u64), EventKind>,
    arrivals: u64,
}

impl EventQueue {
    pub(crate) fn new(hold: Millis) -> Self {
        Self { gate: EventGate::new(hold), events: BTreeMap::new(), arrivals: 0 }
    }

    pub(crate) fn pop_ready(&mut self, now: Millis) -> Option<(Millis, EventKind)> {
        let (at, place) = self.next()?;
        let is_ready = place.ready_at(at) <= now && self.gate.opens_at(at, now).is_none();
        is_ready.then(|| self.pop()).flatten()
    }

    pub(crate) fn wakes_at(&self, now: Millis) -> Option<Millis> {
        let (at, place) = self.next()?;
        let ready = place.ready_at(at);
        Some(self.gate.opens_at(at, now).filter(|_| at <= now).map_or(ready, |opens| opens.max(ready)))
    }

    pub(crate) fn add(&mut self, at: Millis, place: EventRank, kind: EventKind) {
        self.arrivals += 1;
        self.events.insert((at, place, self.arrivals), kind);
    }

    pub(crate) fn time_after_queued_answer(&self, intent: IntentId) -> Option<Millis> {
        let is_its =
            |place: &EventRank| [EventRank::Answer(intent), EventRank::Consequence(intent)].contains(place);
        let answers = self.events.keys().filter(|(_, place, _)| is_its(place));
        answers.map(|(at, _, _)| *at + Millis::new(1)).next_back()
    }

    pub(crate) fn next_at(&self) -> Option<Millis> {
        self.next().map(|(at, _)| at)
    }

    fn next(&self) -> Option<(Millis, EventRank)> {
        self.events.first_key_value().map(|((at, place, _), _)| (*at, *place))
    }

    pub(crate) fn pop(&mut self) -> Option<(Millis, EventKind)> {
        self.events.pop_first().map(|((at, _, _), kind)| (at, kind))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

/// Delays the events of an instant while requests for that instant are pending, at most for the hold time.
#[derive(Debug)]
pub(crate) struct EventGate {
    hold: Millis,
    awaited: BTreeMap<Job, AwaitedJob>,
}

#[derive(Clone, Copy, Debug)]
struct AwaitedJob {
    instant: Millis,
    until: Millis,
}

impl EventGate {
    /// Creates a gate. Its hold time is at least 1 ms, so that the gate always waits for answers of the same instant.
    pub(crate) fn new(hold: Millis) -> Self {
        Self { hold: hold.max(Millis::new(1)), awaited: BTreeMap::new() }
    }

    pub(crate) fn expect_job(&mut self, instant: Millis, due: Millis, job: Job) {
        self.awaited.insert(job, AwaitedJob { instant, until: due + self.hold });
    }

    pub(crate) fn finish_job(&mut self, job: Job) {
        self.awaited.remove(&job);
    }

    fn opens_at(&self, at: Millis, now: Millis) -> Option<Millis> {
        let waits = self.awaited.values().filter(|wait| wait.instant <= at && now < wait.until);
        waits.map(|wait| wait.until).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_run_in_order_of_time_and_only_when_due() {
        let mut agenda = Agenda::default();
        let (early, late) = (Millis::new(10), Millis::new(20));
        agenda.add(late, Job::Balances);
        for at in [late, early, late] {
            agenda.add(at, CANDLES);
            agenda.add(at, TRADE);
        }
        assert_eq!(agenda.pop_due(Millis::new(9)), None);
        assert_eq!(agenda.pop_due(early), Some((early, TRADE)));
        assert_eq!(agenda.pop_due(early), Some((early, CANDLES)));
        assert_eq!((agenda.pop_due(early), agenda.next_at()), (None, Some(late)));
        assert_eq!(agenda.pop_due(late), Some((late, Job::Balances)));
        assert_eq!(agenda.next_at(), None);
    }

    #[test]
    fn events_of_one_instant_follow_the_defined_order() {
        let doubt = |number| EventKind::InDoubt { intent: IntentId::new(number) };
        let mut queue = EventQueue::new(Millis::ZERO);
        let at = Millis::MINUTE;
        queue.add(at, EventRank::Price(0), doubt(8));
        queue.add(at, EventRank::Candle(1), doubt(7));
        queue.add(at, EventRank::Candle(0), doubt(6));
        queue.add(at, EventRank::Answer(IntentId::new(9)), doubt(5));
        queue.add(at, EventRank::Settlement(at, IntentId::new(1)), doubt(3));
        queue.add(at, EventRank::Settlement(at, IntentId::new(2)), doubt(4));
        queue.add(at, EventRank::Settlement(at - Millis::SECOND, IntentId::new(3)), doubt(2));
        queue.add(at - Millis::SECOND, EventRank::Price(0), doubt(1));
        assert_eq!(queue.time_after_queued_answer(IntentId::new(9)), Some(at + Millis::new(1)));
        assert_eq!(queue.time_after_queued_answer(IntentId::new(1)), None);
        let order: Vec<EventKind> = std::iter::from_fn(|| queue.pop()).map(|(_, kind)| kind).collect();
        assert_eq!(order, (1..=8).map(doubt).collect::<Vec<_>>());
    }

    const CANDLES: Job = Job::Candles(SeriesId::FIRST);
    const TRADE: Job = Job::Trade(IntentId::new(1));

    #[test]
    fn instant_waits_for_its_jobs_up_to_the_hold() {
        let at = Millis::MINUTE;
        let mut gate = EventGate::new(Millis::SECOND);
        gate.expect_job(at, at, CANDLES);
        gate.expect_job(at, at, TRADE);
        assert_eq!(gate.opens_at(at - Millis::new(1), at), None, "what is older passes");
        assert_eq!(gate.opens_at(at, at), Some(at + Millis::SECOND));
        gate.finish_job(CANDLES);
        assert_eq!(gate.opens_at(at, at + Millis::new(999)), Some(at + Millis::SECOND));
        assert_eq!(gate.opens_at(at, at + Millis::SECOND), None, "the hold is over");
        let (mut gate, later) = (EventGate::new(Millis::SECOND), at + Millis::new(300));
        gate.expect_job(at, later, CANDLES);
        assert_eq!(gate.opens_at(at, later), Some(later + Millis::SECOND));
    }
}
