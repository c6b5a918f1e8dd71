//! Tracks which journal entries are durable, and delays orders until their intents are durable.

use super::agenda::EventRank;
use super::command::{Command, JournalEntry, Step};
use super::recorded_session::RecordedSession;
use super::{Coordinator, DurableOrder, Job, RequestId};
use candlewick_engine::{ApprovedTrade, Entry, IntentId, JournalHash, Recorder};
use candlewick_journal::JournalError;
use candlewick_sdk::Millis;

/// Number of entries per save if the clock is virtual. Such a run need not survive a crash, so it saves in batches.
const SAVE_BATCH_SIZE: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    WhenWorthwhile,
    Now,
}

pub(crate) struct JournalState {
    /// Whether the clock is virtual. If so, events wait for each save, so that results do not depend on disk speed.
    is_virtual: bool,
    hash: JournalHash,
    pub(crate) outbox: Vec<ApprovedTrade>,
    pub(crate) held_trades: Vec<ApprovedTrade>,
    /// Number of trades at the front of the outbox whose intents are part of the save in progress.
    trades_in_save: usize,
    /// Number of entries that are not durable yet, including the `entries_in_save` of the save in progress.
    pending: usize,
    entries_in_save: usize,
    pub(crate) is_saving: bool,
    pub(crate) suspension_reason: Option<String>,
    /// Whether the journal has refused an entry. If so, the journal has a gap and is not reliable.
    pub(crate) is_corrupted: bool,
}

pub(crate) enum SaveOutcome {
    Durable {
        opens: Vec<ApprovedTrade>,
        was_suspended: bool,
    },
    /// The save has failed. Trades that were approved before the save must never be sent.
    Failed(JournalError),
}

impl JournalState {
    pub(crate) fn new(is_virtual: bool) -> Self {
        Self {
            is_virtual,
            hash: JournalHash::new(),
            outbox: Vec::new(),
            held_trades: Vec::new(),
            trades_in_save: 0,
            pending: 0,
            entries_in_save: 0,
            is_saving: false,
            suspension_reason: None,
            is_corrupted: false,
        }
    }

    pub(crate) fn record(&mut self, entry: Entry<'_>, step: &mut Step<'_>) {
        if self.hash.record(entry).is_err() {
            self.is_corrupted = true;
        }
        self.add(JournalEntry::from_entry(entry), step);
    }

    pub(crate) fn note(&mut self, body: String, step: &mut Step<'_>) {
        self.add(JournalEntry::Note(step.now, body), step);
    }

    pub(crate) fn note_about(&mut self, intent: IntentId, body: String, step: &mut Step<'_>) {
        self.add(JournalEntry::NoteAbout(step.now, intent, body), step);
    }

    fn add(&mut self, entry: JournalEntry, step: &mut Step<'_>) {
        self.pending += 1;
        step.commands.push(Command::Record(entry));
    }

    pub(crate) fn waiting_intents(&self) -> impl Iterator<Item = IntentId> {
        self.outbox.iter().chain(&self.held_trades).map(|approved| approved.intent())
    }

    pub(crate) const fn has_waiting_trades(&self) -> bool {
        !self.outbox.is_empty() || !self.held_trades.is_empty()
    }

    fn take_held_trade(&mut self, intent: IntentId) -> Option<ApprovedTrade> {
        let place = self.held_trades.iter().position(|approved| approved.intent() == intent)?;
        Some(self.held_trades.remove(place))
    }

    pub(crate) fn take_waiting_trades(&mut self) -> Vec<ApprovedTrade> {
        self.trades_in_save = 0;
        let mut waiting = std::mem::take(&mut self.held_trades);
        waiting.append(&mut self.outbox);
        waiting
    }

    pub(crate) const fn is_stalled(&self) -> bool {
        self.is_saving && self.is_virtual
    }

    pub(crate) fn suspend(&mut self, error: &JournalError) -> bool {
        self.suspension_reason.replace(format!("the journal cannot be written: {error}")).is_none()
    }

    pub(crate) fn is_fatal(&self, error: &JournalError) -> bool {
        self.is_corrupted || !error.is_temporary()
    }

    pub(crate) fn save(&mut self, urgency: Urgency, step: &mut Step<'_>) -> Result<(), JournalError> {
        if self.is_saving {
            return Ok(());
        }
        let is_worthwhile = self.pending >= if self.is_virtual { SAVE_BATCH_SIZE } else { 1 };
        // A failing journal is saved again at fixed times, not after every event.
        let is_asked = self.suspension_reason.is_none() && is_worthwhile;
        if urgency == Urgency::WhenWorthwhile && self.outbox.is_empty() && !is_asked {
            return Ok(());
        }
        if self.is_corrupted {
            return Err(gap_error());
        }
        (self.trades_in_save, self.entries_in_save, self.is_saving) = (self.outbox.len(), self.pending, true);
        step.commands.push(Command::MakeDurable);
        Ok(())
    }

    /// Handles the end of a save. Trades that were approved during the save wait for the next save.
    pub(crate) fn on_durable(&mut self, result: Result<(), JournalError>) -> SaveOutcome {
        self.is_saving = false;
        let entries_in_save = std::mem::take(&mut self.entries_in_save);
        match result {
            Ok(()) if self.is_corrupted => SaveOutcome::Failed(gap_error()),
            Err(error) => SaveOutcome::Failed(error),
            Ok(()) => {
                self.pending -= entries_in_save;
                let opens = self.outbox.drain(..std::mem::take(&mut self.trades_in_save)).collect();
                let was_suspended = self.suspension_reason.take().is_some();
                SaveOutcome::Durable { opens, was_suspended }
            }
        }
    }

    pub(crate) fn finish_hash(&mut self) -> String {
        std::mem::replace(&mut self.hash, JournalHash::new()).finish()
    }
}

fn gap_error() -> JournalError {
    JournalError::Unavailable { url: "the journal".to_owned(), source: "it rejected an entry".into() }
}

impl Coordinator {
    pub(super) fn send_or_hold(&mut self, approved: ApprovedTrade, step: &mut Step<'_>) {
        let leaves = self.session.session().order_time(approved.terms());
        if leaves > step.now {
            self.agenda.add(leaves, Job::Departure(approved.intent()));
            return self.session.journal.held_trades.push(approved);
        }
        self.send(&approved, step);
    }

    /// Sends a delayed order. In a simulation, events at `due` wait for the answer, as in a backtest.
    pub(super) fn send_held_order(&mut self, intent: IntentId, due: Millis, step: &mut Step<'_>) {
        let Some(approved) = self.session.journal.take_held_trade(intent) else { return };
        self.send(&approved, step);
        if self.is_simulated && self.requests.contains(RequestId::Open(intent)) {
            self.events.gate.expect_job(due, due, Job::Departure(intent));
        }
    }

    /// Returns the rank of an order's answer, which is the last of an instant in a simulation without latency.
    pub(super) fn answer_rank(&self, intent: IntentId, at: Millis) -> EventRank {
        let decided = self.session.row(intent).map(|row| row.approved.decision_time());
        match decided {
            Some(decided) if self.is_simulated && at <= decided => EventRank::Consequence(intent),
            _ => EventRank::Answer(intent),
        }
    }

    fn send(&mut self, approved: &ApprovedTrade, step: &mut Step<'_>) {
        let (intent, leave_by) = (approved.intent(), self.session.send_deadline(approved));
        if let Some(reason) = self.reason_not_to_send(leave_by, step.now) {
            return self.mark_not_sent(intent, &reason, step);
        }
        self.doubts.note_sent(intent, step.now);
        // An entry delay may have passed, so the stake leaves the wallet now and not at the decision.
        self.audits.wallet.postpone_change(-approved.stake(), step.now);
        self.requests.begin(RequestId::Open(intent));
        let order = self.session.to_trade_order(approved.terms());
        step.commands.push(Command::Send(DurableOrder::new(intent, order, leave_by)));
    }

    fn reason_not_to_send(&self, leave_by: Millis, now: Millis) -> Option<String> {
        if self.ending.is_stopping() {
            return Some("the run was stopping".to_owned());
        }
        if self.session.halt_reason().is_some() {
            return Some("the run was halted".to_owned());
        }
        if self.token_refused.is_some() {
            return Some("the venue rejects the token".to_owned());
        }
        let late = now - leave_by;
        (late > Millis::ZERO).then(|| format!("the intent was saved {late} ms too late for the signal"))
    }
}

impl RecordedSession {
    /// Records why an order was not sent. If sending was attempted, later runs search the venue's list for the trade.
    pub(crate) fn note_unsent_order(
        &mut self,
        id: IntentId,
        reason: &str,
        was_tried: bool,
        step: &mut Step<'_>,
    ) {
        step.warn(format!("trade #{id} was not sent: {reason}"));
        let mut body = serde_json::json!({ "intent": id, "not_sent": reason });
        if was_tried {
            body["tried"] = true.into();
        }
        self.journal.note_about(id, body.to_string(), step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::tests::approved;

    fn save(state: &mut JournalState, urgency: Urgency) -> (bool, usize) {
        let mut commands = Vec::new();
        let mut step = Step { now: Millis::ZERO, commands: &mut commands };
        let saved = state.save(urgency, &mut step);
        (saved.is_ok(), commands.len())
    }

    #[test]
    fn releases_only_opens_that_the_save_included() {
        let mut state = JournalState::new(false);
        state.outbox.push(approved(1));
        assert_eq!(save(&mut state, Urgency::WhenWorthwhile), (true, 1));
        state.outbox.push(approved(2));
        assert_eq!(save(&mut state, Urgency::Now), (true, 0), "it is away");
        let SaveOutcome::Durable { opens, .. } = state.on_durable(Ok(())) else { panic!("it is durable") };
        assert_eq!(opens.iter().map(|open| open.intent().number()).collect::<Vec<_>>(), [1]);
        assert_eq!(state.waiting_intents().map(IntentId::number).collect::<Vec<_>>(), [2]);
        state.is_corrupted = true;
        assert_eq!(save(&mut state, Urgency::Now), (false, 0));
    }

    #[test]
    fn held_open_waits_and_is_taken_once() {
        let mut state = JournalState::new(false);
        for intent in [1, 2] {
            state.held_trades.push(approved(intent));
        }
        state.outbox.push(approved(3));
        let second = IntentId::new(2);
        assert_eq!(state.take_held_trade(second).map(|held| held.intent()), Some(second));
        assert_eq!(state.take_held_trade(second).map(|held| held.intent()), None);
        assert_eq!(state.waiting_intents().map(IntentId::number).collect::<Vec<_>>(), [3, 1]);
        let unsent = state.take_waiting_trades();
        assert_eq!(unsent.iter().map(|open| open.intent().number()).collect::<Vec<_>>(), [1, 3]);
        assert!(!state.has_waiting_trades());
    }
}
