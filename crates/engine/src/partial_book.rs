//! Partial books: pruned, filled up again, or limited to one run.

use crate::refusal_count::RefusalCount;
use crate::{IntentId, IntentRow, IntentState, TradeBook};

impl TradeBook {
    /// Drops rows for which `is_kept` is false and returns their number.
    ///
    /// Everything known of their intents is dropped as well. The counts remain.
    pub fn keep_rows(&mut self, mut is_kept: impl FnMut(&IntentRow) -> bool) -> usize {
        let before = self.rows.len();
        // Made anew: places of reasons and names are those of their lists.
        let mut kept = self.without_rows();
        for row in self.rows.iter().filter(|row| is_kept(row)) {
            kept.copy_row(self, row);
        }
        *self = kept;
        before - self.rows.len()
    }

    /// Returns the book with its dropped rows from `first` on, copied from `whole`.
    ///
    /// `whole` is another book of the same intents. Rows after the last one of this book are not
    /// added.
    #[must_use]
    pub fn filled_from(&self, whole: &Self, first: IntentId) -> Self {
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
            filled.copy_row(book, row);
        }
        filled
    }

    /// Restarts the counts for a run with this first intent.
    ///
    /// Later replies of the venue to intents of earlier runs are not counted.
    pub fn count_from_intent(&mut self, first: IntentId) {
        self.refused = RefusalCount::default();
        (self.no_price, self.rejected, self.not_sent) = (0, 0, 0);
        self.counted_from = first;
    }

    /// Returns the book from this intent on.
    ///
    /// That is the book of one run after earlier runs were recalled.
    #[must_use]
    pub fn from_intent(mut self, first: IntentId) -> Self {
        self.rows.retain(|row| row.approved.intent() >= first);
        self
    }

    /// Puts a rejected or unsent intent in doubt again. It stays in the count of rejections and
    /// excluded from the evidence.
    pub(crate) fn record_reinstated(&mut self, intent: IntentId) {
        if let Some(row) = self.row_mut(intent).filter(|row| row.is_refused()) {
            (row.state, row.answered_at) = (IntentState::InDoubt, None);
        }
    }

    fn without_rows(&self) -> Self {
        let Self { refused, no_price, rejected, not_sent, counted_from, news, .. } = *self;
        Self { refused, no_price, rejected, not_sent, counted_from, news, ..Self::default() }
    }

    fn copy_row(&mut self, book: &Self, row: &IntentRow) {
        let intent = row.approved.intent();
        let reason = self.reasons.put(&book.reason(row));
        let venue_id = book.venue_id(row).and_then(|id| self.put_venue_id(id));
        self.departures.extend(book.departure(intent).map(|departure| (intent, *departure)));
        if book.is_settled_by_person(intent) {
            self.settled_by_person.insert(intent);
        }
        self.copy_correction(book, intent, intent);
        self.rows.push(IntentRow { reason, venue_id, ..*row });
    }

    #[cold]
    pub(crate) fn place_among_few(&self, intent: IntentId) -> Option<usize> {
        self.rows.binary_search_by_key(&intent, |row| row.approved.intent()).ok()
    }
}

impl IntentRow {
    /// Returns whether the intent was rejected by the venue or not sent.
    pub const fn is_refused(&self) -> bool {
        matches!(self.state, IntentState::Rejected | IntentState::NotSent)
    }

    /// Returns the number of the latest update of the intent in its book.
    pub fn last_news(&self) -> u32 {
        let sequence = self.sequence;
        sequence.decided.max(sequence.answered).max(sequence.left_out).max(sequence.settled)
    }
}

impl TradeBook {
    /// Returns the number of updates of intents so far, which is that of the latest.
    pub const fn news(&self) -> u32 {
        self.news
    }
}
