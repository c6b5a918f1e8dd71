//! Parts of a book: without rows that nobody asks for any more, the same with them again, and one run's own.

use crate::refusal_count::RefusalCount;
use crate::{IntentId, IntentRow, IntentState, TradeBook};

impl TradeBook {
    /// Drops the rows that are not to be kept, with all that it knows of their intents; what it counts stays. How many
    /// they were.
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

    /// The same with the rows that were dropped of it, from this intent on to its own last one, as they are in another book of the same
    /// intents.
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

    /// A run begins whose first intent this is: refusals are counted anew, and what the venue still answers to intents of earlier
    /// runs is not counted.
    pub fn count_from_intent(&mut self, first: IntentId) {
        self.refused = RefusalCount::default();
        (self.no_price, self.rejected, self.not_sent) = (0, 0, 0);
        self.counted_from = first;
    }

    /// The book from this intent on: one run's own, when earlier runs were recalled before it.
    #[must_use]
    pub fn from_intent(mut self, first: IntentId) -> Self {
        self.rows.retain(|row| row.approved.intent() >= first);
        self
    }

    /// An intent that was rejected or not sent is in doubt again. It stays in the count of rejections and excluded from
    /// the evidence.
    pub(crate) fn record_reinstated(&mut self, intent: IntentId) {
        if let Some(row) = self.row_mut(intent).filter(|row| row.is_refused()) {
            (row.state, row.answered_at) = (IntentState::InDoubt, None);
        }
    }

    /// What it counts, and no intent.
    fn without_rows(&self) -> Self {
        let Self { refused, no_price, rejected, not_sent, counted_from, news, .. } = *self;
        Self { refused, no_price, rejected, not_sent, counted_from, news, ..Self::default() }
    }

    /// Adds a row of another book, with all that that knows of the intent.
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

    /// The place of an intent's row where rows before it were dropped.
    #[cold]
    pub(crate) fn place_among_few(&self, intent: IntentId) -> Option<usize> {
        self.rows.binary_search_by_key(&intent, |row| row.approved.intent()).ok()
    }
}

impl IntentRow {
    /// Whether the venue rejected it, or its request was not sent.
    pub const fn is_refused(&self) -> bool {
        matches!(self.state, IntentState::Rejected | IntentState::NotSent)
    }

    /// The number of the last of its book's news that was about it.
    pub fn last_news(&self) -> u32 {
        let sequence = self.sequence;
        sequence.decided.max(sequence.answered).max(sequence.left_out).max(sequence.settled)
    }
}

impl TradeBook {
    /// How much has become known of intents so far: the number of the last of its news.
    pub const fn news(&self) -> u32 {
        self.news
    }
}
