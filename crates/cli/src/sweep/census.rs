//! What of a search is noted among the variants of its idea.

use super::Prepared;
use candlewick_backtest::metric::DAYS_PER_YEAR;
use candlewick_sdk::Registry;
use candlewick_search::sweep::{Candidate, Figures};
use candlewick_search::variants::{Note, Tried};

/// A note of each set that ran.
pub(crate) fn notes_of<'a>(
    tried: impl IntoIterator<Item = (&'a Candidate, &'a Figures)>,
    prepared: &Prepared<'_>,
    registry: &Registry,
) -> Vec<Note> {
    let mut session = prepared.settings.session.clone();
    let notes = tried.into_iter().flat_map(|(candidate, figures)| {
        session.bots = vec![prepared.space.bot(candidate)];
        Tried::all_of(&session, registry).into_iter().map(move |tried| Note {
            tried,
            p_value: figures.p_value,
            sharpe_of_a_day: figures.sharpe.map(|sharpe| sharpe / DAYS_PER_YEAR.sqrt()),
        })
    });
    notes.collect()
}
