//! Counting a run among the variants of its idea.

use crate::configuration::Loaded;
use candlewick_backtest::Summary;
use candlewick_backtest::analysis::Metrics;
use candlewick_backtest::variants::{Ledger, Note, Tried, VariantCount};
use candlewick_engine::SessionSettings;
use candlewick_sdk::{Millis, Registry};
use std::io;
use std::ops::Range;

/// What a run is counted as, and where.
pub(crate) struct Census {
    ledger: Ledger,
    tried: Vec<Tried>,
    span: Range<Millis>,
}

impl Census {
    /// Of a run over the candles of `span`; nothing where variants are not counted.
    pub(crate) fn of(
        loaded: &Loaded,
        settings: &SessionSettings,
        registry: &Registry,
        span: Range<Millis>,
    ) -> Option<Self> {
        let ledger = loaded.config.variants.ledger()?;
        Some(Self { ledger, tried: Tried::all_of(settings, registry), span })
    }

    /// Notes the run and tells what it has to be corrected for.
    pub(super) fn take(&self, summary: &Summary, metrics: &Metrics) -> io::Result<VariantCount> {
        // A figure is that of a single idea, or it is none of any.
        let is_single = self.tried.len() == 1;
        let note = |tried: &Tried| Note {
            tried: tried.clone(),
            p_value: summary.p_value.filter(|_| is_single),
            sharpe_of_a_day: metrics.daily.sharpe_of_a_day().filter(|_| is_single),
        };
        let notes: Vec<Note> = self.tried.iter().map(note).collect();
        let known = self.ledger.note(&notes, &self.span)?;
        Ok(VariantCount::of(&known, &notes, &self.span))
    }

    /// Why a run was not counted.
    pub(super) fn failed(&self, error: &io::Error) -> String {
        let place = self.ledger.path().display();
        format!(
            "this variant is not counted: {place}: {error} ([variants] ledger names another file, \"\" none)"
        )
    }
}
