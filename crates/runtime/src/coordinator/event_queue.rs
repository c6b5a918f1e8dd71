//! Queue of known events in the contract's order, with the gate that holds them back.

use super::gate::Gate;
use candlewick_engine::{EventKind, IntentId};
use candlewick_sdk::Millis;
use std::collections::BTreeMap;

/// Order of events of one instant.
///
/// Settlements sort by close time and intent, answers by intent, candles by series, prices by
/// symbol. Consequences follow once the instant is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Settlement(Millis, IntentId),
    Answer(IntentId),
    Balance,
    Candle(usize),
    Signal,
    Price(usize),
    Consequence(IntentId),
}

impl Place {
    fn ready_at(self, instant: Millis) -> Millis {
        match self {
            Self::Consequence(_) => instant + Millis::new(1),
            _ => instant,
        }
    }
}

#[derive(Debug)]
pub(crate) struct EventQueue {
    pub(crate) gate: Gate,
    events: BTreeMap<(Millis, Place, u64), EventKind>,
    arrivals: u64,
}

impl EventQueue {
    pub(crate) fn new(hold: Millis) -> Self {
        Self { gate: Gate::new(hold), events: BTreeMap::new(), arrivals: 0 }
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

    pub(crate) fn add(&mut self, at: Millis, place: Place, kind: EventKind) {
        self.arrivals += 1;
        self.events.insert((at, place, self.arrivals), kind);
    }

    pub(crate) fn after_answer(&self, intent: IntentId) -> Option<Millis> {
        let is_its = |place: &Place| [Place::Answer(intent), Place::Consequence(intent)].contains(place);
        let answers = self.events.keys().filter(|(_, place, _)| is_its(place));
        answers.map(|(at, _, _)| *at + Millis::new(1)).next_back()
    }

    pub(crate) fn next_at(&self) -> Option<Millis> {
        self.next().map(|(at, _)| at)
    }

    fn next(&self) -> Option<(Millis, Place)> {
        self.events.first_key_value().map(|((at, place, _), _)| (*at, *place))
    }

    pub(crate) fn pop(&mut self) -> Option<(Millis, EventKind)> {
        self.events.pop_first().map(|((at, _, _), kind)| (at, kind))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_one_instant_come_in_the_order_of_the_rules() {
        let doubt = |number| EventKind::InDoubt { intent: IntentId::new(number) };
        let mut queue = EventQueue::new(Millis::ZERO);
        let at = Millis::MINUTE;
        queue.add(at, Place::Price(0), doubt(8));
        queue.add(at, Place::Candle(1), doubt(7));
        queue.add(at, Place::Candle(0), doubt(6));
        queue.add(at, Place::Answer(IntentId::new(9)), doubt(5));
        queue.add(at, Place::Settlement(at, IntentId::new(1)), doubt(3));
        queue.add(at, Place::Settlement(at, IntentId::new(2)), doubt(4));
        queue.add(at, Place::Settlement(at - Millis::SECOND, IntentId::new(3)), doubt(2));
        queue.add(at - Millis::SECOND, Place::Price(0), doubt(1));
        assert_eq!(queue.after_answer(IntentId::new(9)), Some(at + Millis::new(1)));
        assert_eq!(queue.after_answer(IntentId::new(1)), None);
        let order: Vec<EventKind> = std::iter::from_fn(|| queue.pop()).map(|(_, kind)| kind).collect();
        assert_eq!(order, (1..=8).map(doubt).collect::<Vec<_>>());
    }

    #[test]
    fn what_followed_from_an_instant_at_once_comes_when_the_instant_is_over() {
        let doubt = |number| EventKind::InDoubt { intent: IntentId::new(number) };
        let mut queue = EventQueue::new(Millis::ZERO);
        let (at, next) = (Millis::MINUTE, Millis::MINUTE + Millis::new(1));
        queue.add(at, Place::Consequence(IntentId::new(1)), doubt(1));
        assert_eq!((queue.pop_ready(at), queue.wakes_at(at)), (None, Some(next)));
        // A signal of the instant that was on its way.
        queue.add(at, Place::Signal, doubt(2));
        assert_eq!(queue.after_answer(IntentId::new(1)), Some(next));
        assert_eq!((queue.pop_ready(at), queue.pop_ready(at)), (Some((at, doubt(2))), None));
        assert_eq!(queue.pop_ready(next), Some((at, doubt(1))));
    }
}
