//! Trials that share work: candles, precomputed order outcomes and declared indicator series.

mod bitset;
mod quantized_series;
mod series_cache;
mod trial;
mod trial_context;

pub use trial::Trial;
pub use trial_context::TrialTrade;

use super::trial_row::lock;
use super::trial_runner::clip_candles;
use super::{Candidate, Figures, PreparedTrial, Replayer, TrialEnd, TrialResult, TrialRunner};
use crate::SearchError;
use bitset::{BitSet, EntryBits};
use candlewick_engine::Session;
use candlewick_sdk::{CandleSeries, Comparison, Declaration, DeclaredSignal, Expiry, Millis, Money, Signal};
use candlewick_simulator::{OutcomeTable, Simulator};
use series_cache::{CachePlan, SeriesCache};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use trial::PlannedEntry;

/// Runs the trials of a sweep without journals or trade books. Work that trials share is done only once.
///
/// With a [`Declaration`], each indicator series is computed once for all trials, and a session processes only
/// candles that may have a signal. Otherwise, the session processes every candle. In both cases, the session's rules
/// check each signal that may be approved, and the trades equal those of a [`Replayer`](super::trial_runner::Replayer).
pub struct SharedRunner<'a> {
    replay: Replayer<'a>,
    cache: SeriesCache,
    outcomes: Mutex<Vec<(Millis, Arc<OutcomeTable>)>>,
    declaration_use: DeclarationMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclarationMode {
    Trusted,
    Ignored,
}

impl<'a> SharedRunner<'a> {
    pub fn new(replay: Replayer<'a>, declaration_use: DeclarationMode) -> Self {
        Self { replay, cache: SeriesCache::new(), outcomes: Mutex::new(Vec::new()), declaration_use }
    }

    pub fn trades(&self, set: &Candidate, until: Millis) -> Result<Option<Vec<TrialTrade>>, SearchError> {
        let mut trades = Vec::new();
        let figures = match self.replay.prepare_trial(set)? {
            Ok(prepared) => self.run_trial(prepared, until, Some(&mut trades))?,
            Err(_) => None,
        };
        Ok(figures.map(|_| trades))
    }

    /// Compares the metrics of a set with those of a full backtest, to detect an incorrect declaration.
    pub fn verify_declaration(&self, candidate: &Candidate, balance: Money) -> Result<(), SearchError> {
        let declared = self.measure(candidate, Millis::MAX, balance)?;
        if declared == self.replay.measure(candidate, Millis::MAX, balance)? {
            return Ok(());
        }
        let problem = "its trades differ from the trades of a full backtest".to_owned();
        Err(SearchError::DeclarationMismatch { problem })
    }

    fn run_trial(
        &self,
        prepared: PreparedTrial,
        until: Millis,
        trades: Option<&mut Vec<TrialTrade>>,
    ) -> Result<Option<Figures>, SearchError> {
        let PreparedTrial { settings, strategy, declaration } = prepared;
        let Some(bot) = settings.session.bots.first() else { return Ok(None) };
        if bot.entry_delay_s > 0 {
            // The trades of this bot open later than their signals, so the fast path cannot be used.
            return Ok(None);
        }
        let (series, expiry) = (bot.series(), bot.expiry());
        let candles = clip_candles(self.replay.candles, &(Millis::new(i64::MIN)..until));
        let Some(candles) = candles.into_iter().find(|own| own.series() == series) else { return Ok(None) };
        // A declaration covers only the signals of its strategy, not trades that the stake rule opens on its own.
        let declaration = declaration.filter(|_| !bot.stake.enters_without_signal());
        let (warmup, declaration) = (strategy.warmup(), self.select_declaration(declaration));
        let Ok(session) = Session::new(&settings.session, vec![strategy]) else { return Ok(None) };
        let mut tables = self.outcome_tables(expiry, &candles, until)?;
        for entry in declaration.iter().flat_map(Declaration::entries) {
            if let Some(own) = entry.expiry.filter(|own| tables.iter().all(|table| table.expiry() != *own)) {
                tables.extend(self.outcome_tables(own, &candles, until)?);
            }
        }
        let simulation = &settings.simulation;
        let markets = self.replay.markets_until(until);
        let venue = Simulator::new(simulation.clone(), session.ledger().free_balance(), markets)?;
        let venue = (venue.with_outcome_tables(tables), simulation.payout_of(candles.symbol()));
        let mut span = self.span();
        span.end = span.end.min(until);
        let Ok(mut trial) = Trial::new(session, &candles, venue, &span) else { return Ok(None) };
        if let Some(trades) = trades {
            trial.record_trades(trades);
        }
        match declaration {
            Some(declaration) => self.run_declaration(trial, declaration, warmup, &candles).map(Some),
            None => Ok(Some(trial.run_all_candles())),
        }
    }

    fn run_declaration(
        &self,
        trial: Trial<'_>,
        declaration: Declaration,
        warmup: usize,
        candles: &CandleSeries,
    ) -> Result<Figures, SearchError> {
        let (mut declared, entries) = declaration.into_parts();
        let quantized = self.cache.acquire(&mut declared, &entries, candles.candles())?;
        let bits = |entry: &DeclaredSignal| -> Option<EntryBits> {
            let test = |comparison: &Comparison| quantized.get(comparison.series)?.bitset(comparison);
            entry.comparisons.iter().map(test).collect()
        };
        let planned = |entry: &DeclaredSignal| {
            let signal = Signal { expiry: entry.expiry, ..Signal::new(entry.direction, "declared") };
            // No value satisfies a comparison with a NaN level, so an entry with this comparison is omitted.
            Some(PlannedEntry { bits: bits(entry)?, signal })
        };
        let planned: Vec<PlannedEntry> = entries.iter().filter_map(planned).collect();
        let bits: Vec<&EntryBits> = planned.iter().map(|entry| &entry.bits).collect();
        let candidates = BitSet::from_entries(&bits, warmup.saturating_sub(1), candles.candles().len());
        self.cache.release(quantized);
        Ok(trial.run_with_entries(&planned, &candidates))
    }

    fn select_declaration(&self, declared: Option<Declaration>) -> Option<Declaration> {
        match self.declaration_use {
            DeclarationMode::Trusted => declared,
            DeclarationMode::Ignored => None,
        }
    }

    fn outcome_tables(
        &self,
        expiry: Expiry,
        candles: &CandleSeries,
        until: Millis,
    ) -> Result<Vec<Arc<OutcomeTable>>, SearchError> {
        let mut known = lock(&self.outcomes);
        let found = known.iter().find(|(of, table)| *of == until && table.expiry() == expiry);
        if let Some((_, table)) = found {
            return Ok(vec![table.clone()]);
        }
        let market = self.replay.markets_until(until).into_iter().find(|m| m.symbol() == candles.symbol());
        let Some(market) = market else { return Ok(Vec::new()) };
        let settings = &self.replay.settings.simulation;
        let table = OutcomeTable::new(settings, market, candles, expiry)?.map(Arc::new);
        known.extend(table.clone().map(|table| (until, table)));
        Ok(table.into_iter().collect())
    }
}

impl TrialRunner for SharedRunner<'_> {
    fn run(&self, candidate: &Candidate, until: Millis) -> Result<TrialResult, SearchError> {
        self.replay.run(candidate, until)
    }

    fn span(&self) -> Range<Millis> {
        self.replay.span()
    }

    fn prepare(&self, candidates: &[&Candidate], until: Millis) -> Result<Vec<Vec<usize>>, SearchError> {
        lock(&self.outcomes).retain(|(of, _)| *of == until);
        let mut layout = CachePlan::default();
        for candidate in candidates {
            let prepared = self.replay.prepare_trial(candidate)?.ok();
            layout.add_trial(prepared.and_then(|prepared| self.select_declaration(prepared.declaration)));
        }
        Ok(self.cache.apply_plan(layout))
    }

    fn evict(&self) {
        lock(&self.outcomes).clear();
        self.cache.clear();
    }

    fn measure(&self, candidate: &Candidate, until: Millis, balance: Money) -> Result<TrialEnd, SearchError> {
        let prepared = match self.replay.prepare_trial(candidate)? {
            Ok(prepared) => prepared,
            Err(problem) => return Ok(TrialEnd::Refused(problem)),
        };
        if self.replay.entry.wants_prices {
            return self.replay.measure(candidate, until, balance);
        }
        match self.run_trial(prepared, until, None)? {
            Some(figures) => Ok(TrialEnd::Figures(Box::new(figures))),
            // A full backtest measures the set or reports the error.
            None => self.replay.measure(candidate, until, balance),
        }
    }
}
