//! Ends a run: stops opening trades, waits for the open trades, and then closes the journal.

use super::Coordinator;
use super::command::{Command, Step};
use super::journal_state::Urgency;
use super::warm_up::WarmUp;
use crate::control::SignalTally;
use crate::{Audit, Notice, RuntimeError, RuntimeSettings, StopReason, Tally};
use candlewick_engine::{
    BotVerdict, Control, EventKind, IntentId, IntentRow, IntentState, Rule, SecondTrade, Session, TradeBook,
    VenueId,
};
use candlewick_journal::JournalError;
use candlewick_sdk::{Millis, Money};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct StopState {
    until: Option<Millis>,
    patience: Millis,
    interrupt_patience: Millis,
    stopping: Option<StopRequest>,
    limit: Option<Rule>,
}

#[derive(Clone, Copy, Debug)]
struct StopRequest {
    why: StopReason,
    since: Millis,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingWork {
    pub(crate) last_close: Option<Millis>,
    is_waiting: bool,
    is_opening: bool,
    has_doubt: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopEffect {
    Stops,
    Hastens,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfinishedTrade {
    pub intent: IntentId,
    pub kind: UnfinishedKind,
    pub venue_id: Option<VenueId>,
    pub stake: Money,
    pub close_time: Option<Millis>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnfinishedKind {
    Open,
    InDoubt,
    SecondTrade,
}

impl UnfinishedTrade {
    pub(crate) fn collect(session: &Session, book: &TradeBook) -> Vec<Self> {
        let of_row = |row: &IntentRow| {
            let kind = match row.state {
                IntentState::Open => UnfinishedKind::Open,
                IntentState::InFlight | IntentState::InDoubt => UnfinishedKind::InDoubt,
                IntentState::Settled
                | IntentState::Rejected
                | IntentState::NotSent
                | IntentState::NotOpened => {
                    return None;
                }
            };
            let (intent, stake) = (row.approved.intent(), row.approved.stake());
            Some(Self { intent, kind, venue_id: book.venue_id(row), stake, close_time: row.close_time })
        };
        let of_second = |trade: &SecondTrade| {
            let SecondTrade { intent, venue_id, stake } = *trade;
            let kind = UnfinishedKind::SecondTrade;
            Self { intent, kind, venue_id: Some(venue_id), stake, close_time: None }
        };
        let rows = book.rows().iter().filter_map(of_row);
        rows.chain(session.second_trades().iter().map(of_second)).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletDifference {
    pub amount: Money,
    pub text: String,
}

impl WalletDifference {
    pub(crate) fn new(amount: Money, describe: impl FnOnce(Money) -> String) -> Option<Self> {
        (amount != Money::ZERO).then(|| Self { amount, text: describe(amount) })
    }
}

pub struct FinishedRun {
    pub stop: StopReason,
    pub book: TradeBook,
    pub first_intent: IntentId,
    /// Number of this run's intents that were removed from memory (see `runtime.remember_s`).
    pub forgotten: u64,
    pub free: Money,
    pub open_stakes: Money,
    pub unfinished: Vec<UnfinishedTrade>,
    pub wallet: Option<Money>,
    pub wallet_difference: Option<WalletDifference>,
    pub missing_wallet: Option<String>,
    pub candles: u64,
    pub rejected_rows: u64,
    pub audits: BTreeMap<Audit, Tally>,
    pub journal_hash: String,
    pub halt_reason: Option<String>,
    pub halted_at: Option<Millis>,
    pub verdicts: Vec<BotVerdict>,
    /// Share of the error rate that is assigned to the verdict on all bots together. 0 if no such verdict exists.
    pub joint_verdict_weight: f64,
    pub signals: Option<Box<SignalTally>>,
    pub dropped_notices: u64,
    /// Journal error if the last entries may be lost. The next run then recovers from the venue's data.
    pub journal_error: Option<RuntimeError>,
}

impl std::fmt::Debug for FinishedRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Finished").field("stop", &self.stop).finish_non_exhaustive()
    }
}

impl StopState {
    pub(crate) fn new(settings: &RuntimeSettings, until: Option<Millis>) -> Self {
        let (patience, interrupt_patience) = stop_patience(settings);
        Self { until, patience, interrupt_patience, stopping: None, limit: None }
    }

    pub(crate) fn set_patience(&mut self, settings: &RuntimeSettings) {
        (self.patience, self.interrupt_patience) = stop_patience(settings);
    }

    pub(crate) fn record_limit(&mut self, rule: Rule) {
        self.limit = self.limit.or(Some(rule));
    }

    pub(crate) fn stop(&mut self, why: StopReason, now: Millis) -> StopEffect {
        let meaning = match self.stopping {
            None => StopEffect::Stops,
            Some(_) if why.is_os_signal() => StopEffect::Hastens,
            Some(_) => return StopEffect::Nothing,
        };
        self.stopping = Some(StopRequest { why, since: now });
        meaning
    }

    /// Returns the reason to stop: a limit, or the run's end time if `is_due` reports no pending work up to it.
    pub(crate) fn stop_reason(&self, now: Millis, is_due: impl Fn(Millis) -> bool) -> Option<StopReason> {
        let reached = |until: &Millis| now >= *until && !is_due(*until);
        self.limit.map(StopReason::Limit).or_else(|| self.until.filter(reached).map(StopReason::DataEnds))
    }

    pub(crate) const fn is_stopping(&self) -> bool {
        self.stopping.is_some()
    }

    fn is_interrupted(&self) -> bool {
        self.stopping.is_some_and(|stopping| stopping.why.is_os_signal())
    }

    fn wait_deadline(&self, under_way: PendingWork) -> Option<Millis> {
        let StopRequest { why, since } = self.stopping?;
        let ends = under_way.last_close.unwrap_or(since).max(since) + self.patience;
        Some(if why.is_os_signal() { ends.min(since + self.interrupt_patience) } else { ends })
    }

    pub(crate) fn final_stop_reason(&self, under_way: PendingWork, now: Millis) -> Option<StopReason> {
        let (stopping, ends) = (self.stopping?, self.wait_deadline(under_way)?);
        let is_quiet = under_way.last_close.is_none() && !under_way.is_waiting && !under_way.has_doubt;
        let is_over = is_quiet || now >= ends;
        (is_over && !under_way.is_opening).then_some(stopping.why)
    }

    pub(crate) fn wakes_at(&self, under_way: PendingWork, now: Millis) -> Option<Millis> {
        let ends = self.wait_deadline(under_way).filter(|at| *at > now);
        let until = self.until.filter(|at| *at > now && self.stopping.is_none());
        ends.into_iter().chain(until).min()
    }
}

fn stop_patience(settings: &RuntimeSettings) -> (Millis, Millis) {
    let seconds = |count: u32| Millis::from_seconds(i64::from(count));
    (seconds(settings.stop_patience_s), seconds(settings.interrupt_patience_s))
}

pub(super) enum Phase {
    Starting(WarmUp),
    Running,
    Closing { stop: StopReason, is_last_save: bool, error: Option<RuntimeError> },
    Ended,
}

impl Phase {
    pub(super) const fn is_over(&self) -> bool {
        matches!(self, Self::Closing { .. } | Self::Ended)
    }
}

impl Coordinator {
    pub(super) fn pending_work(&self) -> PendingWork {
        PendingWork {
            last_close: self.trades.last_close(),
            is_waiting: !self.events.is_empty()
                || self.session.journal.has_waiting_trades()
                || self.contradictions.needs_list(),
            is_opening: self.requests.pending_open_intents().next().is_some(),
            has_doubt: self.doubts.resolver.is_searching()
                || !self.session.session().second_trades().is_empty(),
        }
    }

    pub(super) fn stop_if_due(&mut self, step: &mut Step<'_>) {
        let is_idle = self.requests.is_empty() && !self.session.journal.has_waiting_trades();
        let is_due = |until| {
            let due = |at: Option<candlewick_sdk::Millis>| at.is_some_and(|at| at <= until);
            !is_idle || due(self.agenda.next_at()) || due(self.events.next_at())
        };
        if let Some(why) = self.ending.stop_reason(step.now, is_due) {
            self.stop(why, step);
        }
    }

    pub(super) fn on_stop(&mut self, why: StopReason, step: &mut Step<'_>) {
        match self.phase {
            Phase::Starting(_) => Self::finish(why, step),
            Phase::Running if why.is_os_signal() && self.ending.is_interrupted() => Self::finish(why, step),
            Phase::Running => self.stop(why, step),
            Phase::Closing { .. } | Phase::Ended => {}
        }
    }

    fn stop(&mut self, why: StopReason, step: &mut Step<'_>) {
        match self.ending.stop(why, step.now) {
            // The run is suspended instead of halted, because a halt would also apply to the next run.
            StopEffect::Stops => {
                self.apply_control(Control::Suspend, step);
                // The note shows that the limit ended the run and did not just reject a signal.
                if let StopReason::Limit(rule) = why {
                    let note = serde_json::json!({ "limit_reached": rule.as_str() });
                    self.session.journal.note(note.to_string(), step);
                }
            }
            StopEffect::Hastens => {}
            StopEffect::Nothing => return,
        }
        let under_way = self.pending_work();
        let notice = Notice::Stopping {
            why,
            unfinished: self.trades.len() + self.requests.pending_open_intents().count(),
            last_close: under_way.last_close,
            waits_until: self.ending.wait_deadline(under_way).unwrap_or(step.now),
        };
        step.commands.push(Command::Notify(notice));
    }

    pub(super) fn finish(why: StopReason, step: &mut Step<'_>) {
        step.commands.push(Command::Finish(why));
    }

    /// Ends the run immediately. Orders that have no answer become orders of unknown status.
    pub(super) fn on_finish(&mut self, stop: StopReason, step: &mut Step<'_>) {
        if self.phase.is_over() {
            return;
        }
        while let Some((at, kind)) = self.events.pop() {
            self.handle(at, kind, step);
        }
        for intent in self.requests.pending_open_intents().collect::<Vec<_>>() {
            self.handle(step.now, EventKind::InDoubt { intent }, step);
        }
        for approved in self.session.journal.take_waiting_trades() {
            self.handle(step.now, EventKind::NotSent { intent: approved.intent() }, step);
        }
        self.journal_signal_counts(step);
        self.phase = Phase::Closing { stop, is_last_save: false, error: None };
        if !self.session.journal.is_saving {
            self.save_last_entries(step);
        }
    }

    pub(super) fn continue_closing(&mut self, step: &mut Step<'_>) {
        match self.phase {
            Phase::Closing { is_last_save: false, .. } => self.save_last_entries(step),
            Phase::Closing { is_last_save: true, .. } => step.commands.push(Command::CloseJournal),
            Phase::Starting(_) | Phase::Running | Phase::Ended => {}
        }
    }

    fn save_last_entries(&mut self, step: &mut Step<'_>) {
        if let Phase::Closing { is_last_save, .. } = &mut self.phase {
            *is_last_save = true;
        }
        self.save(Urgency::Now, step);
        if !self.session.journal.is_saving {
            // A corrupted journal is closed without another save.
            step.commands.push(Command::CloseJournal);
        }
    }

    pub(super) fn fail(&mut self, cause: RuntimeError, step: &mut Step<'_>) {
        match &mut self.phase {
            Phase::Closing { error, .. } => {
                step.warn(format!("the last journal entries could not be saved: {cause}"));
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
        let finished = FinishedRun {
            stop,
            free: ledger.free_balance(),
            open_stakes: ledger.open_stakes(),
            unfinished: UnfinishedTrade::collect(self.session.session(), self.session.book()),
            wallet: self.last_wallet_balance(),
            wallet_difference: self.last_difference(),
            missing_wallet: self.describe_missing_wallet().or_else(|| self.describe_unread_wallet()),
            candles: self.session.candle_count,
            rejected_rows: self.rejected_rows,
            audits: self.audits.tallies(),
            halt_reason: self.session.halt_reason().cloned(),
            halted_at: self.session.halt.as_ref().and_then(|halt| halt.at),
            verdicts: self.session.session().verdicts().cloned().collect(),
            joint_verdict_weight: self.session.session().joint_verdict_weight(),
            signals: self.outside.signal_tally().cloned().map(Box::new),
            dropped_notices: 0,
            journal_error: error.or(closed.map_err(RuntimeError::from).err()),
            journal_hash: self.session.journal.finish_hash(),
            first_intent: self.session.first_intent,
            forgotten: self.session.forgotten.this_run,
            book: self.session.take_book(),
        };
        step.commands.push(Command::End(Box::new(Ok(finished))));
    }

    pub const fn is_closing(&self) -> bool {
        self.phase.is_over()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: PendingWork =
        PendingWork { last_close: None, is_waiting: false, is_opening: false, has_doubt: false };

    fn ending() -> StopState {
        let settings =
            RuntimeSettings { stop_patience_s: 30, interrupt_patience_s: 90, ..RuntimeSettings::default() };
        StopState::new(&settings, None)
    }

    #[test]
    fn stop_waits_for_doubts_within_the_patience() {
        let mut ending = ending();
        ending.stop(StopReason::TimeUp, Millis::ZERO);
        let under_way = PendingWork { has_doubt: true, ..QUIET };
        let at = Millis::from_seconds;
        assert_eq!(ending.final_stop_reason(under_way, at(29)), None);
        assert_eq!(ending.final_stop_reason(under_way, at(30)), Some(StopReason::TimeUp));
        assert_eq!(ending.final_stop_reason(QUIET, at(29)), Some(StopReason::TimeUp));
    }

    #[test]
    fn only_a_signal_changes_a_run_that_is_stopping() {
        let mut ending = ending();
        assert_eq!(ending.stop(StopReason::TimeUp, Millis::ZERO), StopEffect::Stops);
        assert_eq!(ending.stop(StopReason::TimeUp, Millis::SECOND), StopEffect::Nothing);
        assert!(!ending.is_interrupted());
        assert_eq!(ending.stop(StopReason::Interrupted, Millis::SECOND), StopEffect::Hastens);
        assert!(ending.is_interrupted());
    }
}
