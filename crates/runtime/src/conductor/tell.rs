//! Tells the Session what may be told, journals it, and sends what it approved.

use super::Conductor;
use crate::request::{self, Asked};
use crate::{Notice, RuntimeError};
use candlewick_api::OpenOrder;
use candlewick_engine::{Action, Approved, Entry, Event, EventKind, Recorder, Rule};
use candlewick_sdk::Millis;
use std::sync::Arc;

impl Conductor {
    /// Tells every queued event whose moment has come, in order, as far as the gate lets them pass.
    pub(super) fn tell_due(&mut self) -> Result<(), RuntimeError> {
        loop {
            let now = self.clock.now();
            match self.queue.next_at() {
                Some(at) if at <= now && self.gate.opens_at(at, now).is_none() => {}
                _ => return Ok(()),
            }
            if let Some((at, kind)) = self.queue.pop() {
                self.tell(at, kind)?;
            }
        }
    }

    /// Tells one event: journal, Session, journal of what it answered, and only then the venue.
    pub(super) fn tell(&mut self, at: Millis, kind: EventKind) -> Result<(), RuntimeError> {
        let event = Event { at, received: self.clock.now(), kind };
        if let EventKind::Candle { .. } = kind {
            self.counts.candles += 1;
        }
        self.record(Entry::Event(&event))?;
        let mut actions = std::mem::take(&mut self.actions);
        self.session.handle(&event, &mut actions);
        self.book.see_event(&event);
        let mut is_opening = false;
        for action in &actions {
            self.record(Entry::Action(action))?;
            self.book.see_action(action);
            is_opening |= matches!(action, Action::Open(_));
        }
        if is_opening {
            // An intent is durable before its request leaves.
            self.journal.make_durable()?;
        }
        self.observer.see(Notice::Told(&event, &actions), self.session.ledger(), &self.book);
        for action in &actions {
            match action {
                Action::Open(approved) => self.send_open(approved),
                Action::Refuse(refused) if refused.rule.is_final() => self.note_limit(refused.rule),
                Action::Refuse(_) | Action::DayOpened { .. } => {}
            }
        }
        actions.clear();
        self.actions = actions;
        Ok(())
    }

    /// Hands an entry to the journal and to its hash.
    pub(super) fn record(&mut self, entry: Entry<'_>) -> Result<(), RuntimeError> {
        self.hash.record(entry)?;
        Ok(self.journal.record(entry)?)
    }

    fn send_open(&mut self, approved: &Approved) {
        let order = OpenOrder {
            symbol: self.session.symbols()[approved.symbol().index()],
            direction: approved.direction(),
            amount: self.session.money_scale().to_decimal(approved.stake()).normalize(),
            close_type: approved.expiry().close_type,
            expiration_type: approved.expiry().expiration_type,
            account: self.account.kind,
        };
        let (venue, intent) = (Arc::clone(&self.venue), approved.intent());
        self.ask(Asked::Open(intent), request::open(venue, intent, order));
    }

    /// A limit that only a person can lift ends the run, once nothing is open that could still lift it.
    fn note_limit(&mut self, rule: Rule) {
        let is_stuck = !self.session.ledger().open_stakes().is_positive();
        if is_stuck && self.limit.is_none() {
            self.limit = Some(rule);
        }
    }
}
