//! Corrects a settled result: the state is refolded as if the right result had come first.

use super::Session;
use super::history::{Entry, History};
use crate::{Action, BotId, Control, Edge, EventKind, IntentId};
use candlewick_sdk::{Millis, Money, Outcome};

impl Session {
    /// Returns whether a result can be corrected: its settlement is recent enough.
    pub fn can_correct(&self, intent: IntentId) -> bool {
        self.history.as_ref().is_some_and(|history| history.has_settlement(intent))
    }

    /// Corrects a result. Opens remain, since they are facts. Ledger, ladders, limits, pauses and
    /// verdicts become those of a run in which the right result came first. Unknown settlements are
    /// ignored.
    pub(super) fn on_correction(
        &mut self,
        intent: IntentId,
        result: (Outcome, Money),
        at: Millis,
        actions: &mut Vec<Action>,
    ) {
        let Some(mut history) = self.history.take() else { return };
        if let Some(first) = history.replace(intent, result) {
            let edges: Vec<Edge> = self.verdicts().map(crate::BotVerdict::edge).collect();
            self.refold(&mut history, first);
            if self.ledger.is_day_over(at) {
                self.begin_day(at);
            }
            self.release(at);
            for (place, before) in edges.into_iter().enumerate() {
                let verdict = &self.bots[place].verdict;
                if let (true, Some(bot)) = (verdict.edge() != before, BotId::new(place)) {
                    actions.push(Action::Verdict(verdict.judgement(bot, at)));
                }
            }
        }
        self.history = Some(history);
    }

    fn refold(&mut self, history: &mut History, first: usize) {
        let (limits, prepared) = (self.limits.clone(), self.prepared.take());
        let (wallet, skew) = (self.ledger.wallet(), self.state.skew());
        for (place, segment) in history.segments_mut().iter_mut().enumerate().skip(first) {
            if place == first {
                self.return_to(&segment.checkpoint);
            } else {
                segment.checkpoint = self.checkpoint();
            }
            for entry in &segment.entries {
                self.refold_entry(entry);
            }
        }
        (self.limits, self.prepared) = (limits, prepared);
        if let Some(amount) = wallet {
            self.ledger.record_wallet(amount);
        }
        self.state.record_skew(skew);
    }

    fn refold_entry(&mut self, entry: &Entry) {
        match entry {
            Entry::Run(header) => self.resume_run(header),
            Entry::Event(event) => self.recall_event(event),
            Entry::Open(terms) => self.recall_open(terms),
            Entry::Day(start) => self.recall_day(*start),
            Entry::Reload(event, limits) => {
                debug_assert_eq!(event.kind, EventKind::Control { control: Control::Reload });
                self.recall_event(event);
                self.limits = (**limits).clone();
            }
        }
    }
}
