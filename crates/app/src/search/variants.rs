//! Counting what a search tried among the variants of its idea.

use super::prepared::PreparedSearch;
use candlewick_backtest::metric::DAYS_PER_YEAR;
use candlewick_sdk::{Millis, Registry};
use candlewick_search::sweep::{Candidate, Figures, TrialRow};
use candlewick_search::variants::{Note, Variant, VariantCount, VariantLedger};
use candlewick_search::walk_forward::WindowResult;
use std::io;
use std::ops::Range;

/// A note of each set that ran.
fn notes_of<'a>(
    tried: impl IntoIterator<Item = (&'a Candidate, &'a Figures)>,
    prepared: &PreparedSearch<'_>,
    registry: &Registry,
) -> Vec<Note> {
    let mut session = prepared.settings.session.clone();
    let notes = tried.into_iter().flat_map(|(candidate, figures)| {
        session.bots = vec![prepared.space.bot(candidate)];
        Variant::of_bots(&session, registry).into_iter().map(move |tried| Note {
            tried,
            p_value: figures.p_value,
            sharpe_of_a_day: figures.sharpe.map(|sharpe| sharpe / DAYS_PER_YEAR.sqrt()),
        })
    });
    notes.collect()
}

/// Notes every trial of a sweep that ran as a variant of its idea; how many variants of it there are by now. Nothing where
/// they are not counted.
pub fn count_sweep(
    prepared: &PreparedSearch<'_>,
    rows: &[TrialRow],
    registry: &Registry,
) -> Option<io::Result<u64>> {
    let ledger = prepared.loaded.config.variants.ledger()?;
    let tried = rows.iter().filter_map(|row| Some((&row.candidate, row.figures()?)));
    let notes = notes_of(tried, prepared, registry);
    Some(note(&ledger, &notes, &prepared.candles.span()))
}

/// Notes every set that was tried on a training, and each that was chosen on its test as well, as variants of their idea on
/// these candles; how many variants of it there are by now. Nothing where they are not counted.
pub fn count_walk<'a>(
    steps: impl IntoIterator<Item = &'a WindowResult>,
    prepared: &PreparedSearch<'_>,
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

fn note(ledger: &VariantLedger, notes: &[Note], span: &Range<Millis>) -> io::Result<u64> {
    ledger.note(notes, span).map(|known| VariantCount::of(&known, notes, span).count)
}
