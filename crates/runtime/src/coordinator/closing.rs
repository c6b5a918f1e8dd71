//! Shutdown: hands pending answers to the session, makes the journal durable and closes it.

use super::Coordinator;
use super::command::{Command, Step};
use super::ending::{Finished, Meaning, UnderWay, Unfinished};
use super::journal_state::Urgency;
use super::warm_up::WarmUp;
use crate::{Notice, RuntimeError, Stop};
use candlewick_engine::{Control, EventKind};
use candlewick_journal::JournalError;

pub(super) enum Phase {
    Starting(WarmUp),
    Running,
    Closing { stop: Stop, is_last_save: bool, error: Option<RuntimeError> },
    Ended,
}

impl Phase {
    pub(super) const fn is_over(&self) -> bool {
        matches!(self, Self::Closing { .. } | Self::Ended)
    }
}

impl Coordinator {
    pub(super) fn under_way(&self) -> UnderWay {
        UnderWay {
            last_close: self.trades.last_close(),
            is_waiting: !self.events.is_empty()
                || self.session.journal.has_waiting()
                || self.contradictions.is_any(),
            is_opening: self.requests.opening().next().is_some(),
            has_doubt: self.doubts.is_searching() || !self.session.session().second_trades().is_empty(),
        }
    }

    pub(super) fn watch_end(&mut self, step: &mut Step<'_>) {
        let is_idle = self.requests.is_empty() && !self.session.journal.has_waiting();
        let is_due = |until| {
            let due = |at: Option<candlewick_sdk::Millis>| at.is_some_and(|at| at <= until);
            !is_idle || due(self.agenda.next_at()) || due(self.events.next_at())
        };
        if let Some(why) = self.ending.due(step.now, is_due) {
            self.stop(why, step);
        }
    }

    pub(super) fn on_stop(&mut self, why: Stop, step: &mut Step<'_>) {
        match self.phase {
            Phase::Starting(_) => Self::finish(why, step),
            Phase::Running if why.is_signal() && self.ending.is_interrupted() => Self::finish(why, step),
            Phase::Running => self.stop(why, step),
            Phase::Closing { .. } | Phase::Ended => {}
        }
    }

    fn stop(&mut self, why: Stop, step: &mut Step<'_>) {
        match self.ending.stop(why, step.now) {
            // Not a halt, which a person orders and which outlives the run.
            Meaning::Stops => {
                self.control(Control::Suspend, step);
                // Nothing else in the journal says that a limit ended the run, and not that it refused a signal.
                if let Stop::Limit(rule) = why {
                    let note = serde_json::json!({ "limit_reached": rule.as_str() });
                    self.session.journal.note(note.to_string(), step);
                }
            }
            Meaning::Hastens => {}
            Meaning::Nothing => return,
        }
        let under_way = self.under_way();
        let notice = Notice::Stopping {
            why,
            unfinished: self.trades.len() + self.requests.opening().count(),
            last_close: under_way.last_close,
            waits_until: self.ending.patience_ends(under_way).unwrap_or(step.now),
        };
        step.commands.push(Command::Notify(notice));
    }

    pub(super) fn finish(why: Stop, step: &mut Step<'_>) {
        step.commands.push(Command::Finish(why));
    }

    /// Ends the run immediately.
    ///
    /// Pending answers are handed over ahead of their time or turn. Opens without an answer become
    /// in doubt.
    pub(super) fn on_finish(&mut self, stop: Stop, step: &mut Step<'_>) {
        if self.phase.is_over() {
            return;
        }
        while let Some((at, kind)) = self.events.pop() {
            self.handle(at, kind, step);
        }
        for intent in self.requests.opening().collect::<Vec<_>>() {
            self.handle(step.now, EventKind::InDoubt { intent }, step);
        }
        // What still waits for the journal is not sent any more.
        for approved in self.session.journal.take_waiting() {
            self.handle(step.now, EventKind::NotSent { intent: approved.intent() }, step);
        }
        self.note_signals(step);
        self.phase = Phase::Closing { stop, is_last_save: false, error: None };
        if !self.session.journal.is_away() {
            self.save_last(step);
        }
    }

    pub(super) fn go_on_closing(&mut self, step: &mut Step<'_>) {
        match self.phase {
            Phase::Closing { is_last_save: false, .. } => self.save_last(step),
            Phase::Closing { is_last_save: true, .. } => step.commands.push(Command::CloseJournal),
            Phase::Starting(_) | Phase::Running | Phase::Ended => {}
        }
    }

    fn save_last(&mut self, step: &mut Step<'_>) {
        if let Phase::Closing { is_last_save, .. } = &mut self.phase {
            *is_last_save = true;
        }
        self.save(Urgency::Now, step);
        if !self.session.journal.is_away() {
            // A journal with a hole is not asked.
            step.commands.push(Command::CloseJournal);
        }
    }

    pub(super) fn fail(&mut self, cause: RuntimeError, step: &mut Step<'_>) {
        match &mut self.phase {
            Phase::Closing { error, .. } => {
                step.warn(format!("the journal's end could not be made durable: {cause}"));
                error.get_or_insert(cause);
            }
            Phase::Starting(_) | Phase::Running => {
                self.phase = Phase::Ended;
                step.commands.push(Command::End(Box::new(Err(cause))));
            }
            Phase::Ended => {}
        }
    }

    pub(super) fn on_journal_closed(&mut self, closed: Result<(), JournalError>, step: &mut Step<'_>) {
        let Phase::Closing { stop, error, .. } = std::mem::replace(&mut self.phase, Phase::Ended) else {
            return;
        };
        let ledger = self.session.ledger();
        let finished = Finished {
            stop,
            free: ledger.free(),
            open_stakes: ledger.open_stakes(),
            unfinished: Unfinished::all_of(self.session.session(), self.session.book()),
            wallet: self.last_wallet(),
            wallet_difference: self.last_difference(),
            missing_wallet: self.missing_wallet().or_else(|| self.unread_wallet()),
            candles: self.session.candles(),
            rejected_rows: self.rejected_rows,
            audits: self.audits.tallies(),
            halted: self.session.halted().cloned(),
            halted_at: self.session.halt().and_then(|halt| halt.at),
            verdicts: self.session.session().verdicts().cloned().collect(),
            weight_of_all_bots: self.session.session().weight_of_all_bots(),
            signals: self.outside.came().cloned().map(Box::new),
            dropped_notices: 0,
            not_durable: error.or(closed.map_err(RuntimeError::from).err()),
            journal_hash: self.session.journal.finish_hash(),
            first_intent: self.session.first_intent(),
            forgotten: self.session.forgotten().own,
            book: self.session.take_book(),
        };
        step.commands.push(Command::End(Box::new(Ok(finished))));
    }
}

impl Coordinator {
    pub const fn is_closing(&self) -> bool {
        self.phase.is_over()
    }
}
