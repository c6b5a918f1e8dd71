//! Sends opens once their intent is durable and the bot's entry delay has passed.

use super::command::{Command, Step};
use super::event_queue::Place;
use super::recorded_session::RecordedSession;
use super::{Coordinator, DurableOpen, Job, RequestId};
use candlewick_engine::{Approved, IntentId};
use candlewick_sdk::Millis;

impl Coordinator {
    pub(super) fn send_or_hold(&mut self, approved: Approved, step: &mut Step<'_>) {
        let leaves = self.session.session().departure(approved.terms());
        if leaves > step.now {
            self.agenda.add(leaves, Job::Departure(approved.intent()));
            return self.session.journal.hold(approved);
        }
        self.send(&approved, step);
    }

    /// Sends a delayed open at `due`.
    ///
    /// On a virtual clock without order latency, the answer has the same time. It precedes the
    /// candles of that time, as in a backtest, so these have to wait.
    pub(super) fn send_held(&mut self, intent: IntentId, due: Millis, step: &mut Step<'_>) {
        let Some(approved) = self.session.journal.take_held(intent) else { return };
        self.send(&approved, step);
        if self.is_simulated && self.requests.has(RequestId::Open(intent)) {
            self.events.gate.await_job(due, due, Job::Departure(intent));
        }
    }

    /// Returns the position of an open's answer among the events of the same time.
    ///
    /// On a virtual clock without order latency, the answer has the time of the decision. It
    /// follows all events of that time, including signals still on their way.
    pub(super) fn place_of_answer(&self, intent: IntentId, at: Millis) -> Place {
        let decided = self.session.row(intent).map(|row| row.approved.decision_time());
        match decided {
            Some(decided) if self.is_simulated && at <= decided => Place::Consequence(intent),
            _ => Place::Answer(intent),
        }
    }

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

    /// Returns why a durable open is not sent: the run was stopped or halted, or the signal is too
    /// old.
    ///
    /// This is the only lateness check after the risk rules. Adapters get the same deadline and
    /// check it only if they wait, for example for a rate limit.
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
    /// Records why an order was not sent, which its event lacks.
    ///
    /// If the client tried to send it, a later run still searches the venue's list for its trade.
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
