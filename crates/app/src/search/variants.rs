//! Recording of tried parameter sets in the variant ledger.

use super::prepared::{PreparedSearch, SearchOptions};
use candlewick_backtest::metric::DAYS_PER_YEAR;
use candlewick_sdk::{Millis, Registry};
use candlewick_search::sweep::{Candidate, Figures, Sweep, TrialEnd, TrialRow};
use candlewick_search::variants::{
    LedgerSummary, Look, LookEnd, LookKind, Variant, VariantCount, VariantLedger, VariantNote, join_hashes,
};
use candlewick_search::walk_forward::WindowResult;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

pub(super) struct WalkLook<'a> {
    pub(super) identity: &'a Value,
    pub(super) run: &'a str,
    pub(super) walk_range: &'a Range<Millis>,
    pub(super) windows: &'a [WindowResult],
    pub(super) hold_out_result: Option<&'a WindowResult>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariantTotals {
    pub variants: u64,
    pub walks: u64,
    /// Number of variants that were planned by running or stopped searches, but not yet tried.
    pub planned: u64,
    /// Whether this search created the ledger. If so, variants that were tried earlier are unknown.
    pub is_first: bool,
}

pub struct SweepRun<'a> {
    pub options: &'a SearchOptions,
    pub prepared: &'a PreparedSearch<'a>,
    run: String,
}

impl<'a> SweepRun<'a> {
    pub fn new(options: &'a SearchOptions, prepared: &'a PreparedSearch<'a>, identity: &Value) -> Self {
        Self { options, prepared, run: run_id(identity) }
    }

    /// Records the planned sets before the first of them runs, so that a killed sweep is counted too.
    pub fn record_planned_sets(&self, sets: u64) {
        if let Some(ledger) = self.prepared.ledger() {
            let _ =
                ledger.record_planned(&self.prepared.entry.name, sets, &self.build_look(LookEnd::Stopped));
        }
    }

    fn build_look(&self, end: LookEnd) -> Look {
        let span = self.prepared.candles.span();
        Look { end, ..self.prepared.build_look(self.options, LookKind::Sweep, &self.run, span) }
    }
}

/// Returns the id of a run. The id depends on the program, because another version may try other sets.
fn run_id(identity: &Value) -> String {
    blake3::hash(identity.to_string().as_bytes()).to_hex()[..16].to_owned()
}

/// Records the trials of a sweep. Returns the new total, or `None` without a ledger.
/// After a complete sweep, also records sets whose trades changed since an earlier sweep on the same candles.
pub fn record_sweep(
    (sweep, job): (&SweepRun<'_>, &Sweep<'_>),
    (rows, end): (&[TrialRow], LookEnd),
    registry: &Registry,
) -> Option<io::Result<VariantTotals>> {
    let prepared = sweep.prepared;
    let (ledger, look) = (prepared.ledger()?, sweep.build_look(end));
    let tried = rows.iter().filter_map(|row| {
        // If a trial used only part of the candles, its trades are not comparable.
        let trades = |figures: &Figures| (row.share >= 1.0).then(|| figures.trades_hash());
        row.figures().map(|figures| TriedParameterSet {
            candidate: &row.candidate,
            figures,
            trades: trades(figures),
        })
    });
    let tried: Vec<TriedParameterSet<'_>> = tried.collect();
    let notes = build_notes(&tried, prepared, registry);
    let run = |places: &[usize], until: Millis| {
        let sets: Vec<&Candidate> = places.iter().map(|place| tried[*place].candidate).collect();
        let outcomes = job.measure_until(&sets, until).map_err(io::Error::other)?;
        let trades = |outcome| match outcome {
            TrialEnd::Figures(figures) => Some(figures.trades_hash()),
            TrialEnd::Refused(_) => None,
        };
        Ok(outcomes.into_iter().map(trades).collect())
    };
    let counted = ledger.record_variants(&notes, &look).and_then(|noted| {
        let is_rewritten =
            end == LookEnd::Whole && ledger.record_changed_sets(&noted, &notes, &look, &run)?;
        let noted = if is_rewritten { ledger.record_variants(&notes, &look)? } else { noted };
        build_variant_totals((&ledger, &noted), &notes, &look)
    });
    Some(counted)
}

/// Records the sets tried in training, in tests and on the hold-out. Returns the new total, or `None` without a ledger.
pub(super) fn record_walk(
    (terms, prepared): (&SearchOptions, &PreparedSearch<'_>),
    walk: &WalkLook<'_>,
    registry: &Registry,
) -> Option<io::Result<VariantTotals>> {
    let ledger = prepared.ledger()?;
    let look = |kind, span: &Range<Millis>| Look {
        end: LookEnd::Whole,
        ..prepared.build_look(terms, kind, walk.run, span.clone())
    };
    let own = Variant::from_walk_forward(&prepared.entry.name, walk.identity);
    let note_of = |steps: &[&WindowResult]| {
        let tests = steps.iter().filter_map(|step| Some(step.chosen.as_ref()?.out_of_sample.trades_hash()));
        let trades = Some(join_hashes(&tests.collect::<Vec<_>>()));
        VariantNote { variant: own.clone(), p_value: None, daily_sharpe: None, trades_hash: trades }
    };
    let mut notes = walk_notes(walk.windows, prepared, registry);
    notes.push(note_of(&walk.windows.iter().collect::<Vec<_>>()));
    let counted = record_notes(&ledger, &notes, &look(LookKind::WalkForward, walk.walk_range));
    let Some(opened) = walk.hold_out_result else { return Some(counted) };
    Some(counted.and_then(|_| {
        record_notes(&ledger, &[note_of(&[opened])], &look(LookKind::HoldOut, &opened.window.test))
    }))
}

struct TriedParameterSet<'a> {
    candidate: &'a Candidate,
    figures: &'a Figures,
    trades: Option<String>,
}

fn walk_notes(steps: &[WindowResult], search: &PreparedSearch<'_>, registry: &Registry) -> Vec<VariantNote> {
    let mut sets: BTreeMap<String, (VariantNote, Vec<String>)> = BTreeMap::new();
    for (number, step) in steps.iter().enumerate() {
        let rows = step.rows.iter().filter_map(|row| {
            let figures = row.figures()?;
            let trades = Some(format!("{number} {} {}", row.share, figures.trades_hash()));
            Some(TriedParameterSet { candidate: &row.candidate, figures, trades })
        });
        for mut note in build_notes(&rows.collect::<Vec<_>>(), search, registry) {
            let trades = note.trades_hash.take().unwrap_or_default();
            let set = sets.entry(note.variant.name.clone()).or_insert_with(|| (note.clone(), Vec::new()));
            set.1.push(trades);
            set.0 = note;
        }
    }
    let joined = |(note, trades): (VariantNote, Vec<String>)| VariantNote {
        trades_hash: Some(join_hashes(&trades)),
        ..note
    };
    sets.into_values().map(joined).collect()
}

fn build_notes(
    tried: &[TriedParameterSet<'_>],
    search: &PreparedSearch<'_>,
    registry: &Registry,
) -> Vec<VariantNote> {
    let mut session = search.settings.session.clone();
    let notes = tried.iter().flat_map(|TriedParameterSet { candidate, figures, trades }| {
        session.bots = vec![search.space.bot_settings(candidate)];
        Variant::from_bots(&session, registry, &search.files).into_iter().map(move |tried| VariantNote {
            variant: tried,
            p_value: figures.p_value,
            daily_sharpe: figures.sharpe.map(|sharpe| sharpe / DAYS_PER_YEAR.sqrt()),
            trades_hash: trades.clone(),
        })
    });
    notes.collect()
}

fn record_notes(ledger: &VariantLedger, notes: &[VariantNote], look: &Look) -> io::Result<VariantTotals> {
    build_variant_totals((ledger, &ledger.record_variants(notes, look)?), notes, look)
}

fn build_variant_totals(
    (ledger, noted): (&VariantLedger, &LedgerSummary),
    notes: &[VariantNote],
    look: &Look,
) -> io::Result<VariantTotals> {
    let count = VariantCount::new(noted, notes, look);
    let VariantCount { count: variants, walks, under_way, is_first, unknown, .. } = count;
    match unknown {
        Some(lost) => Err(io::Error::other(format!("{}: {lost}", ledger.path().display()))),
        None => Ok(VariantTotals { variants, walks, planned: under_way, is_first }),
    }
}
