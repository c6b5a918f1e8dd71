//! Counting of runs as variants of an idea.

use crate::analysis::Metrics;
use candlewick_backtest::Summary;
use candlewick_engine::TradeBook;
use candlewick_search::variants::{
    Look, Note, Noted, Variant, VariantCount, VariantLedger, trades_hash, trades_hash_of_closed,
};
use std::io;

pub struct VariantCounter {
    pub ledger: VariantLedger,
    pub tried: Vec<Variant>,
    pub look: Look,
}

impl VariantCounter {
    pub(super) fn count(
        &self,
        book: &TradeBook,
        summary: &Summary,
        metrics: &Metrics,
    ) -> io::Result<VariantCount> {
        // A figure is that of a single idea, or it is none of any.
        let is_single = self.tried.len() == 1;
        let note = |tried: &Variant| Note {
            tried: tried.clone(),
            p_value: summary.p_value.filter(|_| is_single),
            sharpe_of_a_day: metrics.daily.sharpe_of_a_day().filter(|_| is_single),
            trades: Some(trades_hash(book, &tried.bots, &self.look.span)),
        };
        let notes: Vec<Note> = self.tried.iter().map(note).collect();
        let mut noted = self.ledger.note(&notes, &self.look)?;
        if self.note_rewritten(&noted, &notes, book)? {
            noted = self.ledger.note(&notes, &self.look)?;
        }
        Ok(VariantCount::of(&noted, &notes, &self.look))
    }

    /// Detects code changes that the variant's name does not cover.
    ///
    /// Records what the strategies would have traded on the candles of their first and last run, if
    /// candles were added and the trades differ.
    fn note_rewritten(&self, noted: &Noted, notes: &[Note], book: &TradeBook) -> io::Result<bool> {
        let mut is_any = false;
        for note in notes {
            for span in noted.spans_before_growth(note, &self.look) {
                let trades = Some(trades_hash_of_closed(book, &note.tried.bots, &span));
                let then = Note { tried: note.tried.clone(), p_value: None, sharpe_of_a_day: None, trades };
                if !noted.knows(&then, &span) {
                    self.ledger.note(&[then], &Look { span, ..self.look.clone() })?;
                    is_any = true;
                }
            }
        }
        Ok(is_any)
    }

    pub(super) fn failure(&self, error: &io::Error) -> String {
        let place = self.ledger.path().display();
        format!(
            "this variant is not counted: {place}: {error} ([variants] ledger names another file, \"\" none)"
        )
    }
}
