//! Parallel execution of paths.

use super::trades::play;
use super::{ObservedTrade, PathRow, ResampledCandles};
use crate::SearchError;
use crate::sweep::Figures;
use candlewick_backtest::{Backtest, BacktestError, BacktestSettings, Finished, NullRecorder};
use candlewick_sdk::{Millis, Money, MoneyScale, Strategy};
use candlewick_statistics::BlockBootstrap;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::num::NonZeroUsize;
use std::ops::Range;

pub type PathWatcher<'a> = dyn Fn() -> bool + Sync + 'a;

pub struct MonteCarlo {
    pub bootstrap: BlockBootstrap,
    pub balance: Money,
    /// Smallest stake of the run. A path with a lower balance is ruined.
    pub least_stake: Money,
    pub scale: MoneyScale,
    /// Number of parallel threads. The result does not depend on it.
    pub threads: NonZeroUsize,
}

type Build<'a> = dyn Fn() -> Result<Vec<Box<dyn Strategy>>, BacktestError> + Sync + 'a;

impl MonteCarlo {
    pub fn trades(
        &self,
        (trades, paths): (&[ObservedTrade], Range<u64>),
        watcher: &PathWatcher<'_>,
    ) -> Result<Vec<PathRow>, SearchError> {
        self.run(paths, watcher, &|path| {
            let places = self.bootstrap.places(path, trades.len());
            let drawn = places.into_iter().map(|place| trades[place]);
            Ok(play(path, drawn, (self.balance, self.least_stake), self.scale))
        })
    }

    pub fn candles(
        &self,
        (candles, paths): (&ResampledCandles<'_>, Range<u64>),
        (settings, wants_prices, build): (&BacktestSettings, &[bool], &Build<'_>),
        watcher: &PathWatcher<'_>,
    ) -> Result<Vec<PathRow>, SearchError> {
        self.run(paths, watcher, &|path| {
            let (series, markets) = candles.path(&self.bootstrap.places(path, candles.moves()));
            let span = span_of(&series);
            let backtest = Backtest::new(settings, build()?, wants_prices, &series, markets)?;
            let finished = backtest.run(&NullRecorder::header(), &mut NullRecorder, &mut |_, _| {})?;
            Ok(self.row(path, &finished, &span))
        })
    }

    fn row(&self, path: u64, finished: &Finished, span: &Range<Millis>) -> PathRow {
        let figures = Figures::of(finished, self.balance, span);
        let balance = finished.final_balance;
        PathRow {
            path,
            rung: 0,
            trades: figures.trades,
            final_balance: self.scale.to_f64(balance),
            max_drawdown: figures.max_drawdown,
            max_drawdown_percent: figures.max_drawdown_percent,
            is_ruined: balance < self.least_stake,
        }
    }

    fn run(
        &self,
        paths: Range<u64>,
        watcher: &PathWatcher<'_>,
        one: &(dyn Fn(u64) -> Result<PathRow, SearchError> + Sync),
    ) -> Result<Vec<PathRow>, SearchError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.get()).build();
        let pool = pool.map_err(|error| SearchError::InvalidSearch { problem: error.to_string() })?;
        let watched = |path: u64| if watcher() { Some(one(path)) } else { None };
        let rows: Result<Vec<PathRow>, SearchError> =
            pool.install(|| paths.into_par_iter().filter_map(watched).collect());
        let mut rows = rows?;
        rows.sort_unstable_by_key(|row| row.path);
        Ok(rows)
    }
}

fn span_of(series: &[candlewick_sdk::CandleSeries]) -> Range<Millis> {
    let start = series.iter().map(candlewick_sdk::CandleSeries::start).min().unwrap_or_default();
    let end = series.iter().map(candlewick_sdk::CandleSeries::end).max().unwrap_or_default();
    start..end
}
