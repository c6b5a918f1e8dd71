//! Counting a run among the variants of its idea.

use crate::analysis::Metrics;
use candlewick_backtest::Summary;
use candlewick_engine::TradeBook;
use candlewick_search::variants::{
    Look, Note, Noted, Variant, VariantCount, VariantLedger, trades_hash, trades_hash_of_closed,
};
use std::io;

/// What a run is counted as, and in which ledger.
pub struct VariantCounter {
    /// Where variants are noted.
    pub ledger: VariantLedger,
    /// The bots of the run, each as a variant of its idea.
    pub tried: Vec<Variant>,
    /// The candles that it saw.
    pub look: Look,
}

impl VariantCounter {
    /// Notes the run and says what it has to be corrected for.
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

    /// Notes what strategies would have traded on the candles of their first and their last run, where candles grew and it is not what they traded:
    /// something was changed that their names do not know.
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

    /// Why a run was not counted.
    pub(super) fn failure(&self, error: &io::Error) -> String {
        let place = self.ledger.path().display();
        format!(
            "this variant is not counted: {place}: {error} ([variants] ledger names another file, \"\" none)"
        )
    }
}
