//! Recording that a run uses past candles: watching a rule trade its hold-out counts as a look.

use crate::bots::session_settings;
use crate::configuration::Loaded;
use crate::error::AppError;
use crate::search::files_of_bots;
use candlewick_sdk::{Millis, Registry};
use candlewick_search::variants::{CandleSample, Look, LookEnd, LookKind, Note, Variant};
use std::ops::Range;

/// Records in the variant ledger which candles these bots will see.
///
/// A no-op without a ledger.
///
/// # Errors
/// Those of the ledger, and of files that parameters name.
pub fn note_look(
    loaded: &Loaded,
    registry: &Registry,
    (candles, span): (CandleSample, Range<Millis>),
) -> Result<(), AppError> {
    let Some(ledger) = loaded.config.variants.ledger(&loaded.config.data.state) else { return Ok(()) };
    let settings = session_settings(loaded);
    let tried = Variant::of_bots(&settings, registry, &files_of_bots(&settings.bots)?);
    let note = |tried: Variant| Note { tried, p_value: None, sharpe_of_a_day: None, trades: None };
    let notes: Vec<Note> = tried.into_iter().map(note).collect();
    let look = Look { kind: LookKind::Sandbox, run: None, candles, is_cut: false, span, end: LookEnd::Whole };
    ledger.note(&notes, &look).map_err(|error| {
        let place = ledger.path().display();
        let problem = format!("this look at past candles is not noted: {place} ([variants] ledger names another file, \"\" none)");
        AppError::invalid(problem).because(error)
    })?;
    Ok(())
}
