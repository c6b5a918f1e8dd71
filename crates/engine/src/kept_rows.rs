//! Serializable rows of a book, to be stored and put back into another.

use crate::refusal_count::RefusalCount;
use crate::{
    CorrectedResult, Departure, IntentId, IntentRow, JournalDecoder, Renumbering, TradeBook, VenueId,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// A row with all data of its book about the intent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptRow {
    row: IntentRow,
    text: String,
    /// Numbers of the reason, `None` for one that is not finite.
    numbers: Vec<(String, Option<f64>)>,
    venue_id: Option<VenueId>,
    ordered: Option<Departure>,
    by_person: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    corrected: Option<CorrectedResult>,
}

/// Counts of a book in addition to its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookTotals {
    refused: Vec<u64>,
    no_price: u64,
    rejected: u64,
    not_sent: u64,
    news: u32,
}

impl KeptRow {
    /// Returns the row.
    pub const fn row(&self) -> &IntentRow {
        &self.row
    }

    /// Returns the row with the numbers of another Session.
    #[must_use]
    pub fn under(self, numbers: &Renumbering) -> Self {
        let ordered = self.ordered.map(|ordered| ordered.under(numbers));
        Self { row: self.row.under(numbers), ordered, ..self }
    }

    /// Returns whether an operator reported the result.
    pub const fn is_by_person(&self) -> bool {
        self.by_person
    }

    /// Returns whether the venue took other terms than ordered.
    pub const fn is_departure(&self) -> bool {
        self.ordered.is_some()
    }

    /// Returns whether the result was corrected.
    pub const fn is_corrected(&self) -> bool {
        self.corrected.is_some()
    }

    /// Returns the venue's id of the trade.
    pub const fn venue_id(&self) -> Option<VenueId> {
        self.venue_id
    }
}

impl TradeBook {
    /// Returns the row of an intent with all data of the book about the intent.
    pub fn kept_row(&self, intent: IntentId) -> Option<KeptRow> {
        let row = self.row(intent)?;
        let reason = self.reason(row);
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        Some(KeptRow {
            row: *row,
            text: reason.text().to_owned(),
            numbers: reason.numbers().map(|(name, value)| (name.to_owned(), finite(value))).collect(),
            venue_id: self.venue_id(row),
            ordered: self.departure(intent).copied(),
            by_person: self.is_settled_by_person(intent),
            corrected: self.correction(intent),
        })
    }

    /// Puts a row back: over the existing row of its intent, else at the end.
    ///
    /// Returns whether the row fits, since intents are numbered without gaps.
    pub fn put_back(&mut self, kept: KeptRow, decoder: &mut JournalDecoder) -> bool {
        let KeptRow { row, text, numbers, venue_id, ordered, by_person, corrected } = kept;
        let intent = row.approved.intent();
        let reason = self.reasons.put(&decoder.reason_of_parts(text, numbers));
        let venue_id = venue_id.and_then(|id| self.put_venue_id(id));
        let row = IntentRow { reason, venue_id, ..row };
        self.departures.extend(ordered.map(|ordered| (intent, ordered)));
        if by_person {
            self.settled_by_person.insert(intent);
        } else {
            // A corrected row may follow one that a person's word had settled.
            self.settled_by_person.remove(&intent);
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

    /// Returns the counts of the book.
    pub fn totals(&self) -> BookTotals {
        BookTotals {
            refused: self.refused.totals(),
            no_price: self.no_price,
            rejected: self.rejected,
            not_sent: self.not_sent,
            news: self.news,
        }
    }

    /// Continues from stored counts. Returns `false` if they do not fit the rules.
    pub fn count_from(&mut self, totals: BookTotals) -> bool {
        let BookTotals { refused, no_price, rejected, not_sent, news } = totals;
        let Some(refused) = RefusalCount::of_totals(refused) else { return false };
        (self.refused, self.no_price, self.rejected, self.not_sent) = (refused, no_price, rejected, not_sent);
        self.news = news;
        true
    }

    pub(crate) fn put_venue_id(&mut self, id: VenueId) -> Option<NonZeroU32> {
        self.venue_ids.push(id);
        u32::try_from(self.venue_ids.len()).ok().and_then(NonZeroU32::new)
    }
}
