//! Counting the variants that a walk tried.

use crate::sweep::{Prepared, notes_of};
use candlewick_sdk::{Millis, Registry};
use candlewick_search::sweep::Figures;
use candlewick_search::variants::{Ledger, Note, VariantCount};
use candlewick_search::walk_forward::Step;
use std::io;
use std::ops::Range;

/// Notes every set that was tried on a training, and each that was chosen on its test as well, as variants of their idea on
/// these candles; how many variants of it there are by now. Nothing where they are not counted.
pub(crate) fn count_variants<'a>(
    steps: impl IntoIterator<Item = &'a Step>,
    prepared: &Prepared<'_>,
    registry: &Registry,
) -> Option<io::Result<u64>> {
    let ledger = prepared.loaded.config.variants.ledger()?;
    let note = |notes: Vec<Note>, span: &Range<Millis>| note(&ledger, &notes, span);
    let mut count = Ok(0);
    for step in steps {
        let tried = step.rows.iter().filter_map(|row| Some((&row.candidate, row.figures()?)));
        count = note(notes_of(tried, prepared, registry), &step.window.training);
        let chosen = step.chosen.iter().map(|chosen| (&chosen.candidate, &chosen.out_of_sample));
        let tested: Vec<(_, &Figures)> = chosen.collect();
        if !tested.is_empty() && count.is_ok() {
            count = note(notes_of(tested, prepared, registry), &step.window.test);
        }
        if count.is_err() {
            break;
        }
    }
    Some(count)
}

fn note(ledger: &Ledger, notes: &[Note], span: &Range<Millis>) -> io::Result<u64> {
    ledger.note(notes, span).map(|known| VariantCount::of(&known, notes, span).count)
}
