//! Hashes of trade results, equal for variants whose results are indistinguishable.

use crate::sweep::{Figures, Timeline};
use candlewick_engine::{IntentRow, TradeBook};
use candlewick_sdk::{Millis, Outcome};
use std::ops::Range;

impl Figures {
    pub fn trades_hash(&self) -> String {
        hash([self.won, self.lost, self.draw, self.cancelled], &self.timeline)
    }
}

pub fn join_hashes(hashes: &[String]) -> String {
    blake3::hash(hashes.join(" ").as_bytes()).to_hex()[..16].to_owned()
}

pub fn trades_hash(book: &TradeBook, bots: &[usize], span: &Range<Millis>) -> String {
    hash_of(book, &|row| bots.contains(&row.approved.bot().index()), span)
}

/// Like `trades_hash`, limited to trades closed by the end of `span`.
///
/// These are all trades of a run whose candles ended there.
pub fn trades_hash_of_closed(book: &TradeBook, bots: &[usize], span: &Range<Millis>) -> String {
    let has_closed = |row: &IntentRow| row.close_time.is_some_and(|close| close <= span.end);
    hash_of(book, &|row| bots.contains(&row.approved.bot().index()) && has_closed(row), span)
}

fn hash_of(book: &TradeBook, is_own: &dyn Fn(&IntentRow) -> bool, span: &Range<Millis>) -> String {
    let own = || book.rows().iter().filter(|row| is_own(row));
    let count = |outcome| own().filter(|row| row.outcome == Some(outcome)).count() as u64;
    let counts = [Outcome::Won, Outcome::Lost, Outcome::Draw, Outcome::Cancelled].map(count);
    hash(counts, &Timeline::of_rows(own(), span))
}

fn hash(counts: [u64; 4], timeline: &Timeline) -> String {
    let mut hasher = blake3::Hasher::new();
    for count in counts {
        hasher.update(&count.to_le_bytes());
    }
    hasher.update(&timeline.longest_parts().to_le_bytes());
    for (won, lost) in timeline.parts() {
        hasher.update(&won.to_le_bytes()).update(&lost.to_le_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}
