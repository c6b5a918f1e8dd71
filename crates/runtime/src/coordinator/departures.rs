//! The opens whose intents are durable: sent at once, or when the entry delay of their bot is over.

use super::command::{Command, Step};
use super::event_queue::Place;
use super::recorded_session::RecordedSession;
use super::{Coordinator, DurableOpen, Job, RequestId};
use candlewick_engine::{Approved, IntentId};
use candlewick_sdk::Millis;

impl Coordinator {
    /// Sends an open whose intent is durable, or keeps it until its moment.
    pub(super) fn send_or_hold(&mut self, approved: Approved, step: &mut Step<'_>) {
        let leaves = self.session.session().departure(approved.terms());
        if leaves > step.now {
            self.agenda.add(leaves, Job::Departure(approved.intent()));
            return self.session.journal.hold(approved);
        }
        self.send(&approved, step);
    }

    /// Sends one whose moment `due` has come.
    ///
    /// On a virtual clock the answer may be of that very moment (an order latency of 0), and then it comes before the
    /// candles of that moment, as in a backtest: they wait for it.
    pub(super) fn send_held(&mut self, intent: IntentId, due: Millis, step: &mut Step<'_>) {
        let Some(approved) = self.session.journal.take_held(intent) else { return };
        self.send(&approved, step);
        if self.is_simulated && self.requests.has(RequestId::Open(intent)) {
            self.events.gate.await_job(due, due, Job::Departure(intent));
        }
    }

    /// Where the answer to an open stands among the events of its instant.
    ///
    /// On a virtual clock it may be of the very moment of the decision (an order latency of 0). Then it follows from the
    /// events of that instant, and comes after all of them, signals that are still on their way to the run too.
    pub(super) fn place_of_answer(&self, intent: IntentId, at: Millis) -> Place {
        let decided = self.session.row(intent).map(|row| row.approved.decision_time());
        match decided {
            Some(decided) if self.is_simulated && at <= decided => Place::Consequence(intent),
            _ => Place::Answer(intent),
        }
    }

    /// Sends it, unless something speaks against that by now.
    fn send(&mut self, approved: &Approved, step: &mut Step<'_>) {
        let (intent, leave_by) = (approved.intent(), self.session.latest_departure(approved));
        if let Some(reason) = self.reason_not_to_send(leave_by, step.now) {
            return self.not_sent(intent, &reason, step);
        }
        self.doubts.note_sent(intent, step.now);
        // The wallet pays for it from now on at the earliest: its entry may have been delayed.
        self.audits.wallet.postpone(-approved.stake(), step.now);
        self.requests.begin(RequestId::Open(intent));
        let order = self.session.order_of(approved.terms());
        step.commands.push(Command::Send(DurableOpen::new(intent, order, leave_by)));
    }

    /// Why an open whose intent is durable is not sent all the same: while it waited the run was stopped or halted, or the
    /// moment of its signal passed.
    ///
    /// This is the one place where a lateness is judged after the risk rules. An adapter is handed the same moment, and only
    /// keeps to it where it has to wait itself (for a rate limit).
    fn reason_not_to_send(&self, leave_by: Millis, now: Millis) -> Option<String> {
        if self.ending.is_stopping() {
            return Some("the run was about to end".to_owned());
        }
        if self.session.halted().is_some() {
            return Some("the run was halted".to_owned());
        }
        if self.token_refused.is_some() {
            return Some("the venue does not accept the token".to_owned());
        }
        let late = now - leave_by;
        (late > Millis::ZERO).then(|| format!("its intent was durable {late} ms too late for its signal"))
    }
}

impl RecordedSession {
    /// Records why an order was not sent, which the event that follows lacks. If the client tried to send it, a later run searches
    /// the venue's list for its trade all the same.
    pub(crate) fn note_not_sent(
        &mut self,
        intent: IntentId,
        reason: &str,
        was_tried: bool,
        step: &mut Step<'_>,
    ) {
        step.warn(format!("trade #{intent} was not sent: {reason}"));
        let mut body = serde_json::json!({ "intent": intent, "not_sent": reason });
        if was_tried {
            body["tried"] = true.into();
        }
        self.journal.note_about(intent, body.to_string(), step);
    }
}
