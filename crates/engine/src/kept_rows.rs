//! Stores, restores, drops and copies the rows of a book.

use crate::refusal_count::RefusalCount;
use crate::{
    IntentId, IntentRow, JournalDecoder, OriginalOrder, OriginalResult, Renumbering, TradeBook, VenueId,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// A row and everything else that the book stores about its intent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredRow {
    row: IntentRow,
    text: String,
    /// Names and values of the numbers in the reason, `None` for non-finite values.
    numbers: Vec<(String, Option<f64>)>,
    venue_id: Option<VenueId>,
    ordered: Option<OriginalOrder>,
    by_person: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    corrected: Option<OriginalResult>,
}

/// The counts of a book that cannot be computed from its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCounts {
    refused: Vec<u64>,
    no_price: u64,
    rejected: u64,
    not_sent: u64,
    news: u32,
}

impl StoredRow {
    /// Returns the row of the intent.
    pub const fn row(&self) -> &IntentRow {
        &self.row
    }

    /// Returns the row with the bot and symbol ids of another Session.
    #[must_use]
    pub fn renumbered(self, numbers: &Renumbering) -> Self {
        let ordered = self.ordered.map(|ordered| ordered.renumbered(numbers));
        Self { row: self.row.renumbered(numbers), ordered, ..self }
    }

    /// Returns whether an operator reported the result.
    pub const fn is_settled_by_operator(&self) -> bool {
        self.by_person
    }

    /// Returns whether the venue accepted terms that differ from the order.
    pub const fn has_changed_terms(&self) -> bool {
        self.ordered.is_some()
    }

    /// Returns whether the result was corrected.
    pub const fn is_corrected(&self) -> bool {
        self.corrected.is_some()
    }

    /// Returns the venue's id of the trade, `None` if unknown.
    pub const fn venue_id(&self) -> Option<VenueId> {
        self.venue_id
    }
}

impl TradeBook {
    /// Returns the row of an intent with everything else that the book stores about the intent.
    pub fn stored_row(&self, intent: IntentId) -> Option<StoredRow> {
        let row = self.row(intent)?;
        let reason = self.reason(row);
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        Some(StoredRow {
            row: *row,
            text: reason.text().to_owned(),
            numbers: reason.numbers().map(|(name, value)| (name.to_owned(), finite(value))).collect(),
            venue_id: self.venue_id(row),
            ordered: self.original_order(intent).copied(),
            by_person: self.is_settled_by_operator(intent),
            corrected: self.original_result(intent),
        })
    }

    /// Restores a stored row by replacing the row of the same intent or appending a new row.
    /// Returns `false` if an appended row does not directly follow the last row.
    pub fn restore_row(&mut self, kept: StoredRow, decoder: &mut JournalDecoder) -> bool {
        let StoredRow { row, text, numbers, venue_id, ordered, by_person, corrected } = kept;
        let intent = row.approved.intent();
        let reason = self.reasons.put(&decoder.build_reason_from_parts(text, numbers));
        let venue_id = venue_id.and_then(|id| self.push_venue_id(id));
        let row = IntentRow { reason, venue_id, ..row };
        self.original_orders.extend(ordered.map(|ordered| (intent, ordered)));
        if by_person {
            self.settled_by_operator.insert(intent);
        } else {
            // A corrected row may replace a row that an operator had settled.
            self.settled_by_operator.remove(&intent);
        }
        self.corrections.extend(corrected.map(|corrected| (intent, corrected)));
        if let Some(known) = self.row_mut(intent) {
            *known = row;
            return true;
        }
        let next = self.rows.last().map(|last| last.approved.intent().next());
        self.rows.push(row);
        next.is_none_or(|next| next == intent)
    }

    /// Returns the counts that cannot be computed from the rows.
    pub fn stored_counts(&self) -> StoredCounts {
        StoredCounts {
            refused: self.refused.totals(),
            no_price: self.no_price,
            rejected: self.rejected,
            not_sent: self.not_sent,
            news: self.update_count,
        }
    }

    /// Restores stored counts. Returns `false` if they cover too few or too many rules for this program version.
    pub fn restore_counts(&mut self, totals: StoredCounts) -> bool {
        let StoredCounts { refused, no_price, rejected, not_sent, news } = totals;
        let Some(refused) = RefusalCount::from_totals(refused) else { return false };
        (self.refused, self.no_price, self.rejected, self.not_sent) = (refused, no_price, rejected, not_sent);
        self.update_count = news;
        true
    }

    pub(crate) fn push_venue_id(&mut self, id: VenueId) -> Option<NonZeroU32> {
        self.venue_ids.push(id);
        u32::try_from(self.venue_ids.len()).ok().and_then(NonZeroU32::new)
    }

    /// Drops the rows for which `is_kept` returns `false`, and returns the number of dropped rows.
    /// Other data about the dropped intents is dropped as well. The counts do not change.
    pub fn retain_rows(&mut self, mut is_kept: impl FnMut(&IntentRow) -> bool) -> usize {
        let before = self.rows.len();
        // The book is rebuilt, because rows refer to reasons and venue ids by index.
        let mut kept = self.without_rows();
        for row in self.rows.iter().filter(|row| is_kept(row)) {
            kept.copy_row(self, row.approved.intent(), *row);
        }
        *self = kept;
        before - self.rows.len()
    }

    /// Returns a copy of this book in which dropped rows are restored from `whole`, a book of the same intents.
    /// Only rows from intent `first` up to the last row of this book are restored.
    #[must_use]
    pub fn with_restored_rows(&self, whole: &Self, first: IntentId) -> Self {
        let last = self.rows.last().map(|row| row.approved.intent());
        let is_missing = |row: &&IntentRow| {
            let intent = row.approved.intent();
            intent >= first && Some(intent) < last && self.row(intent).is_none()
        };
        let missing = whole.rows.iter().filter(is_missing).map(|row| (whole, row));
        let mut rows: Vec<_> = self.rows.iter().map(|row| (self, row)).chain(missing).collect();
        rows.sort_by_key(|(_, row)| row.approved.intent());
        let mut filled = self.without_rows();
        for (book, row) in rows {
            filled.copy_row(book, row.approved.intent(), *row);
        }
        filled
    }

    /// Restarts the counts for a run that begins with intent `first`.
    /// Later replies to intents of earlier runs are not counted.
    pub fn restart_counts_at(&mut self, first: IntentId) {
        self.refused = RefusalCount::default();
        (self.no_price, self.rejected, self.not_sent) = (0, 0, 0);
        self.counted_from = Some(first);
    }

    /// Returns the book of the run that began with intent `first`: the rows from this intent on.
    #[must_use]
    pub fn starting_at_intent(mut self, first: IntentId) -> Self {
        self.rows.retain(|row| row.approved.intent() >= first);
        self
    }

    fn without_rows(&self) -> Self {
        let Self { refused, no_price, rejected, not_sent, counted_from, update_count, .. } = *self;
        Self { refused, no_price, rejected, not_sent, counted_from, update_count, ..Self::default() }
    }

    /// Appends a row of `book`. `original` is the id of the row's intent in `book`.
    pub(crate) fn copy_row(&mut self, book: &Self, original: IntentId, row: IntentRow) {
        let intent = row.approved.intent();
        let reason = self.reasons.put(&book.reason(&row));
        let venue_id = book.venue_id(&row).and_then(|id| self.push_venue_id(id));
        self.original_orders.extend(book.original_order(original).map(|departure| (intent, *departure)));
        if book.is_settled_by_operator(original) {
            self.settled_by_operator.insert(intent);
        }
        self.corrections.extend(book.original_result(original).map(|corrected| (intent, corrected)));
        self.rows.push(IntentRow { reason, venue_id, ..row });
    }
}
