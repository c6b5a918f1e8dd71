//! Trials that share what is the same for several of them: candles, the fates of orders, and series that the strategy
//! declares.

mod closes;
mod coded_series;
mod marks;
mod series_shelf;
mod tally;
mod walk;

pub use walk::TrialTrade;

use super::ground::within_all;
use super::{Candidate, Ground, Outcome, Replay, Staged, Trial};
use candlewick_backtest::BacktestError;
use candlewick_engine::Session;
use candlewick_sdk::{CandleSeries, Comparison, Declaration, DeclaredEntry, Expiry, Millis, Money, Signal};
use candlewick_simulator::{FateTable, Simulator};
use closes::Closes;
use marks::{Marks, Tests};
use series_shelf::{Layout, SeriesShelf};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tally::Tally;
use walk::{Floor, PlannedEntry, Walk};

/// Runs trials without a journal and without a book, and does once what is the same for several of them.
///
/// Candles are shared, and so is what becomes of an order at each candle's close. Where a strategy declares its signals
/// (see [`Declaration`]), each series is computed once for all trials that look at it, and the Session is handed only the
/// candles that are candidates, with what becomes of their trades; else it is handed every candle. Either way every signal that may be
/// approved goes through the rules of a Session of its own, and the trades are those of a [`Replay`].
pub struct Shared<'a> {
    replay: Replay<'a>,
    shelf: SeriesShelf,
    fates: Mutex<Vec<(Millis, Arc<FateTable>)>>,
    black_box: BlackBox,
}

/// Whether declarations count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlackBox {
    /// A strategy that declares its signals is taken at its word.
    WhatIsNotDeclared,
    /// Every strategy is shown every candle.
    Everything,
}

impl<'a> Shared<'a> {
    /// Over what a replay runs on.
    pub fn new(replay: Replay<'a>, black_box: BlackBox) -> Self {
        Self { replay, shelf: SeriesShelf::new(), fates: Mutex::new(Vec::new()), black_box }
    }

    /// The settled trades of a set, in the order in which they became known; `None` where the strategy refuses it.
    ///
    /// # Errors
    /// As [`Ground::run`].
    pub fn trades(
        &self,
        candidate: &Candidate,
        until: Millis,
    ) -> Result<Option<Vec<TrialTrade>>, BacktestError> {
        let mut trades = Vec::new();
        let tally = match self.replay.stage(candidate)? {
            Ok(staged) => self.walk(staged, until, Some(&mut trades))?,
            Err(_) => None,
        };
        Ok(tally.map(|_| trades))
    }

    /// Holds the figures of a set to those of its backtest, candle by candle: a declaration that is not what the strategy
    /// does shows itself there.
    ///
    /// # Errors
    /// [`BacktestError::DeclarationMismatch`] when they differ; else as [`Ground::run`].
    pub fn check(&self, candidate: &Candidate, balance: Money) -> Result<(), BacktestError> {
        let declared = self.measure(candidate, Millis::MAX, balance)?;
        if declared == self.replay.measure(candidate, Millis::MAX, balance)? {
            return Ok(());
        }
        let problem = "the trades that follow from it are not those of its backtest".to_owned();
        Err(BacktestError::DeclarationMismatch { problem })
    }

    /// Runs a trial; `None` when a Session cannot be made of it, or it needs all of a replay.
    fn walk(
        &self,
        staged: Staged,
        until: Millis,
        trades: Option<&mut Vec<TrialTrade>>,
    ) -> Result<Option<Tally>, BacktestError> {
        let Staged { settings, strategy } = staged;
        let Some(bot) = settings.session.bots.first() else { return Ok(None) };
        let (series, expiry, symbol) = (bot.series(), bot.expiry(), bot.symbol);
        let candles = within_all(self.replay.candles, &(Millis::new(i64::MIN)..until));
        let Some(candles) = candles.into_iter().find(|own| own.series() == series) else { return Ok(None) };
        let (warmup, declaration) = (strategy.warmup(), self.declaration(strategy.declaration()));
        let Ok(mut session) = Session::new(&settings.session, vec![strategy]) else { return Ok(None) };
        session.leave_verdicts();
        let markets = self.replay.markets_until(until);
        let venue = Simulator::new(settings.simulation.clone(), session.ledger().free(), markets)?;
        let (payout, start) = (settings.simulation.payout_percent, session.ledger().free());
        let mut span = self.span();
        span.end = span.end.min(until);
        let mut fates = self.fates(expiry, &candles, until)?;
        for entry in declaration.iter().flat_map(Declaration::entries) {
            if let Some(own) = entry.expiry.filter(|own| fates.iter().all(|table| table.expiry() != *own)) {
                fates.extend(self.fates(own, &candles, until)?);
            }
        }
        let floor = Floor {
            venue,
            tally: Tally::new(session.money_scale(), payout, start, &span),
            symbol,
            payout,
            fates,
            pending: Vec::with_capacity(16),
            is_one_enough: None,
            trades,
        };
        let closes = Closes::of(candles.candles(), series.interval.length());
        let walk = Walk { session, floor, closes, actions: Vec::with_capacity(16) };
        let Some(declaration) = declaration else { return Ok(Some(walk.run_candles())) };
        let (mut declared, entries) = declaration.into_parts();
        let coded = self.shelf.take(&mut declared, &entries, candles.candles())?;
        let tests = |entry: &DeclaredEntry| -> Option<Tests> {
            let test = |comparison: &Comparison| coded.get(comparison.series)?.marks(comparison);
            entry.when.iter().map(test).collect()
        };
        let planned = |entry: &DeclaredEntry| {
            let signal = Signal { expiry: entry.expiry, ..Signal::new(entry.direction, "declared") };
            // A level that is no number is met by none.
            Some(PlannedEntry { tests: tests(entry)?, signal })
        };
        let planned: Vec<PlannedEntry> = entries.iter().filter_map(planned).collect();
        let tests: Vec<&Tests> = planned.iter().map(|entry| &entry.tests).collect();
        let marks = Marks::of(&tests, warmup.saturating_sub(1), candles.candles().len());
        self.shelf.put_back(coded);
        Ok(Some(walk.run_declared(&planned, &marks)))
    }

    fn declaration(&self, declared: Option<Declaration>) -> Option<Declaration> {
        match self.black_box {
            BlackBox::WhatIsNotDeclared => declared,
            BlackBox::Everything => None,
        }
    }

    /// The table of an expiry, if there can be one.
    fn fates(
        &self,
        expiry: Expiry,
        candles: &CandleSeries,
        until: Millis,
    ) -> Result<Vec<Arc<FateTable>>, BacktestError> {
        let mut known = self.fates.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|(of, table)| *of == until && table.expiry() == expiry);
        if let Some((_, table)) = found {
            return Ok(vec![table.clone()]);
        }
        let market = self.replay.markets_until(until).into_iter().find(|m| m.symbol() == candles.symbol());
        let Some(market) = market else { return Ok(Vec::new()) };
        let settings = &self.replay.settings.simulation;
        let table = FateTable::new(settings, market, candles, expiry)?.map(Arc::new);
        known.extend(table.clone().map(|table| (until, table)));
        Ok(table.into_iter().collect())
    }
}

impl Ground for Shared<'_> {
    fn run(&self, candidate: &Candidate, until: Millis) -> Result<Trial, BacktestError> {
        self.replay.run(candidate, until)
    }

    fn span(&self) -> Range<Millis> {
        self.replay.span()
    }

    fn prepare(&self, candidates: &[&Candidate], until: Millis) -> Result<Vec<Vec<usize>>, BacktestError> {
        self.fates.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _)| *of == until);
        let mut layout = Layout::default();
        for candidate in candidates {
            let staged = self.replay.stage(candidate)?.ok();
            layout.add(staged.and_then(|staged| self.declaration(staged.strategy.declaration())));
        }
        Ok(self.shelf.lay_out(layout))
    }

    fn put_away(&self) {
        self.fates.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.shelf.clear();
    }

    fn measure(
        &self,
        candidate: &Candidate,
        until: Millis,
        balance: Money,
    ) -> Result<Outcome, BacktestError> {
        let staged = match self.replay.stage(candidate)? {
            Ok(staged) => staged,
            Err(problem) => return Ok(Outcome::Refused(problem)),
        };
        if self.replay.entry.wants_prices {
            return self.replay.measure(candidate, until, balance);
        }
        match self.walk(staged, until, None)? {
            Some(tally) => Ok(Outcome::Figures(Box::new(tally.into_figures()))),
            // It says what is wrong.
            None => self.replay.measure(candidate, until, balance),
        }
    }
}
