//! Tells the Session what may be told, and journals both sides of it.

use super::Conductor;
use crate::Notice;
use candlewick_engine::{Action, Entry, Event, EventKind, Recorder, Rule};
use candlewick_sdk::Millis;

impl Conductor {
    /// Tells every queued event whose moment has come, in order, as far as the gate lets them pass.
    pub(super) fn tell_due(&mut self) {
        loop {
            let now = self.clock.now();
            match self.queue.next_at() {
                Some(at) if at <= now && self.gate.opens_at(at, now).is_none() => {}
                _ => return,
            }
            if let Some((at, kind)) = self.queue.pop() {
                self.tell(at, kind);
            }
        }
    }

    /// Tells one event. What the Session approves waits in the outbox until its intent is durable.
    pub(super) fn tell(&mut self, at: Millis, kind: EventKind) {
        let event = Event { at, received: self.clock.now(), kind };
        if let EventKind::Candle { .. } = kind {
            self.counts.candles += 1;
        }
        self.record(Entry::Event(&event));
        let mut actions = std::mem::take(&mut self.actions);
        self.session.handle(&event, &mut actions);
        self.book.record_event(&event);
        self.audits.wallet.watch(self.session.ledger().free(), event.received);
        for action in &actions {
            self.record(Entry::Action(action));
            self.book.record_action(action);
        }
        self.observer.see(Notice::Told(&event, &actions), self.session.ledger(), &self.book);
        for action in &actions {
            match action {
                Action::Open(approved) => self.outbox.push(approved.clone()),
                Action::Refuse(refused) if refused.rule.is_final() => self.note_limit(refused.rule),
                Action::Refuse(_) | Action::DayOpened { .. } | Action::Verdict(_) => {}
            }
        }
        actions.clear();
        self.actions = actions;
    }

    /// Hands an entry to the journal and to its hash. A journal that does not take it has a hole from then on.
    pub(super) fn record(&mut self, entry: Entry<'_>) {
        for taken in [self.hash.record(entry), self.journal.record(entry)] {
            if let Err(error) = taken {
                self.tear(&error);
            }
        }
    }

    /// A limit that only a person can lift ends the run, once nothing is open that could still lift it.
    fn note_limit(&mut self, rule: Rule) {
        let is_stuck = !self.session.ledger().open_stakes().is_positive();
        if is_stuck && self.limit.is_none() {
            self.limit = Some(rule);
        }
    }
}
