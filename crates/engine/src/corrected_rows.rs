//! Corrections of settled results in a book.

use crate::{IntentId, IntentState, TradeBook};
use candlewick_sdk::{Millis, Money, Outcome};
use serde::{Deserialize, Serialize};

/// A result that was booked first and turned out to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorrectedResult {
    /// Outcome that was booked first.
    pub outcome: Outcome,
    /// Net profit that was booked first.
    pub profit: Money,
    /// Venue time of the last correction.
    pub corrected_at: Millis,
}

impl TradeBook {
    /// Returns whether the operator, not the venue, reported the result.
    pub fn is_settled_by_person(&self, intent: IntentId) -> bool {
        self.settled_by_person.contains(&intent)
    }

    /// Returns the result booked before a correction, `None` without one.
    pub fn correction(&self, intent: IntentId) -> Option<CorrectedResult> {
        self.corrections.get(&intent).copied()
    }

    pub(crate) fn copy_correction(&mut self, book: &Self, from: IntentId, to: IntentId) {
        self.corrections.extend(book.correction(from).map(|corrected| (to, corrected)));
    }

    pub(crate) fn record_correction(
        &mut self,
        intent: IntentId,
        (outcome, profit): (Outcome, Money),
        at: Millis,
    ) {
        let Some(row) = self.row_mut(intent).filter(|row| row.state == IntentState::Settled) else { return };
        let booked = (row.outcome.unwrap_or(outcome), row.profit);
        (row.outcome, row.profit) = (Some(outcome), profit);
        let is_left_out_by_person = row.sequence.left_out == row.sequence.settled;
        if self.settled_by_person.remove(&intent)
            && is_left_out_by_person
            && let Some(row) = self.row_mut(intent)
        {
            // The venue's word is evidence; only the operator's was not.
            row.sequence.left_out = 0;
        }
        let first = self.corrections.get(&intent).map_or(booked, |first| (first.outcome, first.profit));
        let corrected = CorrectedResult { outcome: first.0, profit: first.1, corrected_at: at };
        self.corrections.insert(intent, corrected);
    }
}
