//! Keeps the journal's promise: an intent is durable before its request leaves.
//!
//! On the system's clock the run goes on while the journal is written: what is open is tracked, and what is approved
//! waits. On a virtual clock it is waited for, so that what is told next does not depend on how long a disk takes.

use super::Conductor;
use super::keeper::{Returned, unavailable};
use crate::RuntimeError;
use crate::request::{self, Asked};
use candlewick_engine::{Approved, Control, EventKind, IntentId};
use candlewick_journal::JournalError;
use candlewick_sdk::Millis;
use serde_json::json;
use std::sync::Arc;

/// Entries that a virtual clock's run may leave undurable: nothing of it outlives the process anyway.
const WORTHWHILE: usize = 256;

/// When the journal is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    /// When an intent waits for it, or enough has gathered.
    WhenWorthwhile,
    /// At once.
    Now,
}

impl Conductor {
    /// Sends the journal to the disk when that is worthwhile and it is not there already; [`Conductor::hear_kept`]
    /// hears what came of it.
    ///
    /// # Errors
    /// As [`Conductor::hear_kept`].
    pub(super) async fn keep(&mut self, urgency: Urgency) -> Result<(), RuntimeError> {
        while let Ok(exchange) = self.exchanges.try_recv() {
            self.journal.record_exchange(exchange);
        }
        if self.journal.is_away() {
            return Ok(());
        }
        let pending = self.journal.pending();
        let is_worthwhile = if self.is_simulated { pending >= WORTHWHILE } else { pending > 0 };
        // A journal that fails is tried again at its own pace, not with every event.
        let is_asked = !self.suspended && is_worthwhile;
        if urgency == Urgency::WhenWorthwhile && self.outbox.is_empty() && !is_asked {
            return Ok(());
        }
        if self.is_journal_torn {
            return self.suspend(unavailable("an entry was not taken".into()));
        }
        self.leaving = self.outbox.len();
        self.journal.send();
        if self.is_simulated {
            let returned = self.journal.returned().await;
            return self.hear_kept(returned);
        }
        Ok(())
    }

    /// The journal is back: sends the opens whose intents are durable by that. When it could not be kept they are never
    /// sent, and no more are approved until it can.
    ///
    /// # Errors
    /// When trying again is of no use: the journal belongs to another process, or is broken.
    pub(super) fn hear_kept(&mut self, returned: Returned) -> Result<(), RuntimeError> {
        let Returned { kept, taken } = returned;
        if let Err(error) = taken {
            self.tear(&error);
        }
        if let Err(error) = kept {
            return self.suspend(error);
        }
        if self.suspended {
            self.suspended = false;
            if self.stopping.is_none() {
                self.control(Control::Continue);
            }
            self.warn("the journal can be kept again");
        }
        // Approved while it was away, an open waits for the next time.
        let durable: Vec<Approved> = self.outbox.drain(..std::mem::take(&mut self.leaving)).collect();
        for approved in durable {
            match self.kept_back(&approved) {
                None => self.send_open(&approved),
                Some(reason) => {
                    self.note_not_sent(approved.intent(), &reason);
                    self.tell(self.clock.now(), EventKind::NotSent { intent: approved.intent() });
                }
            }
        }
        Ok(())
    }

    /// Waits until everything told so far is durable, or cannot be for now.
    ///
    /// # Errors
    /// As [`Conductor::hear_kept`].
    pub(super) async fn keep_all(&mut self) -> Result<(), RuntimeError> {
        if self.journal.is_away() {
            let returned = self.journal.returned().await;
            self.hear_kept(returned)?;
        }
        self.keep(Urgency::Now).await?;
        if self.journal.is_away() {
            let returned = self.journal.returned().await;
            self.hear_kept(returned)?;
        }
        Ok(())
    }

    /// The journal has a hole from here on.
    pub(super) fn tear(&mut self, error: &std::io::Error) {
        tracing::warn!(%error, "the journal did not take an entry");
        self.is_journal_torn = true;
    }

    /// Nothing waits for a journal that fails: what was approved is not sent, and opens are suspended.
    fn suspend(&mut self, error: JournalError) -> Result<(), RuntimeError> {
        self.leaving = 0;
        let unsent = std::mem::take(&mut self.outbox);
        if !self.suspended {
            self.suspended = true;
            self.control(Control::Suspend);
            self.warn(&format!("the journal cannot be kept, nothing is opened until it can: {error}"));
        }
        let now = self.clock.now();
        for approved in unsent {
            self.note_not_sent(approved.intent(), "the journal could not be kept");
            self.tell(now, EventKind::NotSent { intent: approved.intent() });
        }
        if error.is_temporary() && !self.is_journal_torn { Ok(()) } else { Err(error.into()) }
    }

    fn control(&mut self, control: Control) {
        let now = self.clock.now();
        self.tell(now, EventKind::Control { control });
    }

    /// Why an open whose intent is durable is not sent all the same: while it waited the run was stopped or halted, or
    /// the moment of its signal passed.
    fn kept_back(&self, approved: &Approved) -> Option<String> {
        if self.stopping.is_some() {
            return Some("the run was about to end".to_owned());
        }
        if self.halted.is_some() {
            return Some("the run was halted".to_owned());
        }
        let late = self.clock.now() - self.session.latest_departure(approved);
        (late > Millis::ZERO).then(|| format!("the journal was kept {late} ms too late for its signal"))
    }

    /// Keeps the reason with the intent: the event that follows has none.
    pub(super) fn note_not_sent(&mut self, intent: IntentId, reason: &str) {
        self.warn(&format!("intent {intent} was not sent: {reason}"));
        let body = json!({ "intent": intent, "not_sent": reason }).to_string();
        self.journal.note_about(self.clock.now(), intent, body);
    }

    fn send_open(&mut self, approved: &Approved) {
        let (order, leave_by) = (self.order_of(approved), self.session.latest_departure(approved));
        self.sent.insert(approved.intent(), self.clock.now());
        let (venue, intent) = (Arc::clone(&self.venue), approved.intent());
        self.ask(Asked::Open(intent), request::open(venue, intent, (order, leave_by)));
    }
}
