//! Runs Monte Carlo paths over resampled trades or candles, in parallel.

use super::CandleResampler;
use crate::SearchError;
use crate::error::build_thread_pool;
use crate::sweep::Figures;
use candlewick_backtest::{Backtest, BacktestError, BacktestResult, BacktestSettings, NullRecorder};
use candlewick_engine::{IntentState, TradeBook};
use candlewick_sdk::{Millis, Money, MoneyScale, Strategy};
use candlewick_statistics::BlockBootstrap;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::ops::Range;

/// Result of one Monte Carlo path. Amounts are in the wallet's currency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathRow {
    #[serde(rename = "trial")]
    pub path: u64,
    /// Always 0. The row format is shared with sweeps, which store their halving rung in this field.
    pub rung: u32,
    pub trades: u64,
    pub final_balance: f64,
    pub max_drawdown: f64,
    pub max_drawdown_percent: f64,
    /// Whether the final balance is too low for the smallest stake, or a stake was larger than the balance.
    pub is_ruined: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedTrade {
    pub stake: Money,
    pub profit: Money,
}

pub fn observed_trades(book: &TradeBook) -> Vec<ObservedTrade> {
    let mut settled: Vec<_> = book.rows().iter().filter(|row| row.state == IntentState::Settled).collect();
    settled.sort_by_key(|row| (row.settled_at, row.close_time));
    settled.iter().map(|row| ObservedTrade { stake: row.approved.stake(), profit: row.profit }).collect()
}

fn replay_trades(
    path: u64,
    trades: impl Iterator<Item = ObservedTrade>,
    (balance, least_stake): (Money, Money),
    scale: MoneyScale,
) -> PathRow {
    let (mut now, mut peak, mut fall, mut fall_percent) = (balance, balance, Money::ZERO, 0.0_f64);
    let (mut count, mut is_ruined) = (0, balance < least_stake);
    for trade in trades {
        if now < trade.stake {
            is_ruined = true;
            break;
        }
        now += trade.profit;
        count += 1;
        peak = peak.max(now);
        fall = fall.max(peak - now);
        if peak > Money::ZERO {
            fall_percent = fall_percent.max(scale.to_f64(peak - now) / scale.to_f64(peak) * 100.0);
        }
    }
    PathRow {
        path,
        rung: 0,
        trades: count,
        final_balance: scale.to_f64(now),
        max_drawdown: scale.to_f64(fall),
        max_drawdown_percent: fall_percent,
        is_ruined: is_ruined || now < least_stake,
    }
}

/// Callback before each path. Returning `false` skips the path.
pub type PathFilter<'a> = dyn Fn() -> bool + Sync + 'a;

pub struct MonteCarlo {
    pub bootstrap: BlockBootstrap,
    pub balance: Money,
    /// Smallest stake of the run. A path counts as ruined if its final balance is below this amount.
    pub min_stake: Money,
    pub scale: MoneyScale,
    pub threads: NonZeroUsize,
}

type StrategyBuilder<'a> = dyn Fn() -> Result<Vec<Box<dyn Strategy>>, BacktestError> + Sync + 'a;

impl MonteCarlo {
    pub fn resample_trades(
        &self,
        (trades, paths): (&[ObservedTrade], Range<u64>),
        watcher: &PathFilter<'_>,
    ) -> Result<Vec<PathRow>, SearchError> {
        self.run(paths, watcher, &|path| {
            let places = self.bootstrap.draw_indices(path, trades.len());
            let drawn = places.into_iter().map(|place| trades[place]);
            Ok(replay_trades(path, drawn, (self.balance, self.min_stake), self.scale))
        })
    }

    pub fn resample_candles(
        &self,
        (candles, paths): (&CandleResampler<'_>, Range<u64>),
        (settings, wants_prices, build): (&BacktestSettings, &[bool], &StrategyBuilder<'_>),
        watcher: &PathFilter<'_>,
    ) -> Result<Vec<PathRow>, SearchError> {
        self.run(paths, watcher, &|path| {
            let (series, markets) =
                candles.build_path(&self.bootstrap.draw_indices(path, candles.move_count()));
            let span = covering_span(&series);
            let backtest = Backtest::new(settings, build()?, wants_prices, &series, markets)?;
            let finished = backtest.run(&NullRecorder::header(), &mut NullRecorder, &mut |_, _| {})?;
            Ok(self.to_row(path, &finished, &span))
        })
    }

    fn to_row(&self, path: u64, finished: &BacktestResult, span: &Range<Millis>) -> PathRow {
        let figures = Figures::new(finished, self.balance, span);
        let balance = finished.final_balance;
        PathRow {
            path,
            rung: 0,
            trades: figures.trades,
            final_balance: self.scale.to_f64(balance),
            max_drawdown: figures.max_drawdown,
            max_drawdown_percent: figures.max_drawdown_percent,
            is_ruined: balance < self.min_stake,
        }
    }

    fn run(
        &self,
        paths: Range<u64>,
        watcher: &PathFilter<'_>,
        one: &(dyn Fn(u64) -> Result<PathRow, SearchError> + Sync),
    ) -> Result<Vec<PathRow>, SearchError> {
        let pool = build_thread_pool(self.threads)?;
        let watched = |path: u64| if watcher() { Some(one(path)) } else { None };
        let rows: Result<Vec<PathRow>, SearchError> =
            pool.install(|| paths.into_par_iter().filter_map(watched).collect());
        let mut rows = rows?;
        rows.sort_unstable_by_key(|row| row.path);
        Ok(rows)
    }
}

fn covering_span(series: &[candlewick_sdk::CandleSeries]) -> Range<Millis> {
    let start = series.iter().map(candlewick_sdk::CandleSeries::start).min().unwrap_or_default();
    let end = series.iter().map(candlewick_sdk::CandleSeries::end).max().unwrap_or_default();
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_matches_hand_computation() {
        let scale = MoneyScale::default();
        let money = |text: &str| scale.convert_exact(text.parse().unwrap()).unwrap();
        let trade = |profit: &str| ObservedTrade { stake: money("10"), profit: money(profit) };
        // The balances are 100 at the start, then 108, 98, 88, 96 and 86.
        let played = ["8", "-10", "-10", "8", "-10"].map(trade);
        let row = replay_trades(3, played.into_iter(), (money("100"), money("10")), scale);
        let percent = (108.0 - 86.0) / 108.0 * 100.0;
        let PathRow { path, trades, final_balance, max_drawdown, max_drawdown_percent, is_ruined, .. } = row;
        assert_eq!((path, trades, final_balance, max_drawdown, is_ruined), (3, 5, 86.0, 22.0, false));
        assert!((max_drawdown_percent - percent).abs() < 1e-12, "{max_drawdown_percent}");
        // The balances are 25 at the start, then 15 and 5. The last balance does not cover a third stake.
        let played = ["-10", "-10", "8", "8"].map(trade);
        let row = replay_trades(0, played.into_iter(), (money("25"), money("10")), scale);
        assert_eq!((row.trades, row.final_balance, row.is_ruined), (2, 5.0, true));
    }
}
