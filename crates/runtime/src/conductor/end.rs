//! How a run ends: no more opens, what is open tracked to its settlement, within patience.

use super::Conductor;
use crate::request::Asked;
use crate::{Audit, Notice, RuntimeError, Stop, Tally};
use candlewick_engine::{BotVerdict, Control, EventKind, IntentId, TradeBook};
use candlewick_sdk::{Millis, Money};
use std::collections::BTreeMap;

/// A run that opens no more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopping {
    why: Stop,
    since: Millis,
}

/// What a run leaves behind.
pub struct Finished {
    /// Why it ended.
    pub stop: Stop,
    /// All intents and refusals.
    pub book: TradeBook,
    /// Free balance at the end.
    pub free: Money,
    /// Stakes of intents that are not over.
    pub open_stakes: Money,
    /// What the wallet held when it was last read.
    pub wallet: Option<Money>,
    /// Candles told to the Session.
    pub candles: u64,
    /// Rows of the venue that were no candles.
    pub rejected_rows: u64,
    /// What was audited how often, and with how many findings.
    pub audits: BTreeMap<Audit, Tally>,
    /// The hash of the run's journal.
    pub journal_hash: String,
    /// Why a person had halted it, if it ended halted.
    pub halted: Option<String>,
    /// The verdict on each bot, in the bots' order.
    pub verdicts: Vec<BotVerdict>,
    /// Why the journal's end may not be durable, if it may not: the next start finds out at the venue what it misses.
    pub not_durable: Option<RuntimeError>,
}

impl Conductor {
    /// Begins to stop when the run's end, or a final limit, is reached.
    pub(super) fn watch_end(&mut self, until: Option<Millis>) {
        if let Some(rule) = self.limit {
            self.stop(Stop::Limit(rule));
        }
        // The last instant belongs to the run: its candles are told before it ends.
        let reached = |until: &Millis| self.clock.now() >= *until && !self.has_due(*until);
        match until.filter(reached) {
            Some(until) if self.requests.is_empty() => self.stop(Stop::DataEnds(until)),
            _ => {}
        }
    }

    fn has_due(&self, until: Millis) -> bool {
        let due = |at: Option<Millis>| at.is_some_and(|at| at <= until);
        due(self.agenda.next_at()) || due(self.queue.next_at())
    }

    /// No more opens; what is open is tracked to its end. A signal to a run that is stopping already bounds
    /// its patience; anything else changes nothing any more.
    pub(super) fn stop(&mut self, why: Stop) {
        match self.stopping {
            // Not a halt, which a person orders and which outlives the run.
            None => self.tell(self.clock.now(), EventKind::Control { control: Control::Suspend }),
            Some(_) if why.is_signal() => {}
            Some(_) => return,
        }
        self.stopping = Some(Stopping { why, since: self.clock.now() });
        let words = match why {
            Stop::TimeUp => "the time is up",
            Stop::DataEnds(_) => "the candles end",
            Stop::Interrupted => "interrupted; once more to end at once",
            Stop::Terminated => "told to end; once more to end at once",
            Stop::Limit(rule) => rule.as_str(),
        };
        let unfinished = self.trades.len() + self.opening().len();
        self.observer.see(Notice::Stopping(words, unfinished), self.session.ledger(), &self.book);
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.stopping.is_some_and(|stopping| stopping.why.is_signal())
    }

    /// When a stopping run no longer waits for its trades.
    pub(super) fn patience_ends(&self) -> Option<Millis> {
        let Stopping { why, since } = self.stopping?;
        let seconds = |count: u32| Millis::from_seconds(i64::from(count));
        let last_close = self.trades.last_close().unwrap_or(since).max(since);
        let ends = last_close + seconds(self.settings.stop_patience_s);
        Some(match why {
            Stop::Interrupted | Stop::Terminated => {
                ends.min(since + seconds(self.settings.interrupt_patience_s))
            }
            Stop::TimeUp | Stop::DataEnds(_) | Stop::Limit(_) => ends,
        })
    }

    /// Why the run is over, once it is. An open on its way is always waited for: it has a deadline of its own.
    pub(super) fn ended(&self) -> Option<Stop> {
        let (stopping, ends) = (self.stopping?, self.patience_ends()?);
        let is_quiet = self.trades.len() == 0 && self.queue.is_empty() && self.outbox.is_empty();
        let is_over = is_quiet || self.clock.now() >= ends;
        (is_over && self.opening().is_empty()).then_some(stopping.why)
    }

    /// Intents whose request left and is not answered.
    pub(super) fn opening(&self) -> Vec<IntentId> {
        let intent = |asked: &Asked| match asked {
            Asked::Open(intent) => Some(*intent),
            Asked::Job(_) | Asked::Adoption(_) => None,
        };
        let mut intents: Vec<_> = self.asked.values().filter_map(intent).collect();
        intents.sort_unstable();
        intents
    }

    /// Ends the run now. What is known is told, although its moment or its turn has not come; an open whose
    /// answer nobody waits for is in doubt.
    pub(super) async fn finish(mut self, stop: Stop) -> Finished {
        self.hear_ready();
        while let Some((at, kind)) = self.queue.pop() {
            self.tell(at, kind);
        }
        for intent in self.opening() {
            self.tell(self.clock.now(), EventKind::InDoubt { intent });
        }
        // What still waits for the journal is not sent any more.
        self.leaving = 0;
        for approved in std::mem::take(&mut self.outbox) {
            self.tell(self.clock.now(), EventKind::NotSent { intent: approved.intent() });
        }
        let kept = self.keep_all().await;
        if let Err(error) = &kept {
            self.warn(&format!("the journal's end could not be made durable: {error}"));
        }
        let closed = self.journal.close().await;
        if let Err(error) = &closed {
            tracing::warn!(%error, "the journal could not be let go of");
        }
        let ledger = self.session.ledger();
        Finished {
            stop,
            free: ledger.free(),
            open_stakes: ledger.open_stakes(),
            wallet: ledger.wallet(),
            candles: self.counts.candles,
            rejected_rows: self.counts.rejected_rows,
            audits: self.audits.tallies(),
            journal_hash: self.hash.finish(),
            halted: self.halted,
            verdicts: self.session.verdicts().cloned().collect(),
            book: self.book.from_intent(self.first),
            not_durable: kept.and(closed.map_err(RuntimeError::from)).err(),
        }
    }
}
