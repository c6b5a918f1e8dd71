//! Keeps the journal's promise: an intent is durable before its request leaves.

use super::Conductor;
use crate::RuntimeError;
use crate::request::{self, Asked};
use candlewick_engine::{Approved, Control, EventKind};
use candlewick_journal::JournalError;
use std::sync::Arc;
use std::time::Duration;

/// Entries that a virtual clock's run may leave undurable: nothing of it outlives the process anyway.
const WORTHWHILE: usize = 256;
/// A journal that does not answer within this is not available.
pub(super) const DEADLINE: Duration = Duration::from_secs(10);

/// When the journal is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    /// When an intent waits for it, or enough has gathered.
    WhenWorthwhile,
    /// At once.
    Now,
}

impl Conductor {
    /// Makes the journal durable and sends the opens that waited for it. When it cannot be, they are never sent,
    /// and no more are approved until it can.
    ///
    /// # Errors
    /// When trying again is of no use: the journal belongs to another process, or is broken.
    pub(super) async fn keep(&mut self, urgency: Urgency) -> Result<(), RuntimeError> {
        while let Ok(wire) = self.wires.try_recv() {
            self.journal.note_wire(wire);
        }
        let pending = self.journal.pending();
        let is_worthwhile = if self.is_simulated { pending >= WORTHWHILE } else { pending > 0 };
        // A journal that fails is tried again at its own pace, not with every event.
        let is_asked = !self.suspended && is_worthwhile;
        if urgency == Urgency::WhenWorthwhile && self.outbox.is_empty() && !is_asked {
            return Ok(());
        }
        match self.make_durable().await {
            Ok(()) => {
                if self.suspended {
                    self.suspended = false;
                    if self.stopping.is_none() {
                        self.control(Control::Continue);
                    }
                    self.warn("the journal can be kept again");
                }
                for approved in std::mem::take(&mut self.outbox) {
                    self.send_open(&approved);
                }
                Ok(())
            }
            Err(error) => self.suspend(error),
        }
    }

    async fn make_durable(&mut self) -> Result<(), JournalError> {
        let unavailable = |source| JournalError::Unavailable { url: "the journal".to_owned(), source };
        if self.is_journal_torn {
            return Err(unavailable("an entry was not taken".into()));
        }
        match tokio::time::timeout(DEADLINE, self.journal.make_durable()).await {
            Ok(kept) => kept,
            Err(elapsed) => Err(unavailable(Box::new(elapsed))),
        }
    }

    /// Nothing waits for a journal that fails: what was approved is not sent, and opens are suspended.
    fn suspend(&mut self, error: JournalError) -> Result<(), RuntimeError> {
        let unsent = std::mem::take(&mut self.outbox);
        if !self.suspended {
            self.suspended = true;
            self.control(Control::Suspend);
            self.warn(&format!("the journal cannot be kept, nothing is opened until it can: {error}"));
        }
        let now = self.clock.now();
        for approved in unsent {
            self.tell(now, EventKind::NotSent { intent: approved.intent() });
        }
        if error.is_temporary() && !self.is_journal_torn { Ok(()) } else { Err(error.into()) }
    }

    fn control(&mut self, control: Control) {
        let now = self.clock.now();
        self.tell(now, EventKind::Control { control });
    }

    fn send_open(&mut self, approved: &Approved) {
        let order = self.order_of(approved);
        self.sent.insert(approved.intent(), self.clock.now());
        let (venue, intent) = (Arc::clone(&self.venue), approved.intent());
        self.ask(Asked::Open(intent), request::open(venue, intent, order));
    }
}
