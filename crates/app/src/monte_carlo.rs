//! Monte Carlo resampling of a backtest's trades or candles, locally or in shards.

use crate::backtest::{PreparedBacktest, thread_count};
use crate::bots::{build_strategies, convert_search_error};
use crate::candles::CandleChoice;
use crate::configuration::{BaseLayer, LoadedConfig};
use crate::error::{AppError, Result};
use crate::progress::Progress;
use crate::search::{
    PlanDifferences, PlanLocation, PlannedCommand, PlannedRow, ProgramMismatchPolicy, RowPlan, RowPlanBasis,
};
use candlewick_sdk::{Money, Registry};
use candlewick_search::monte_carlo::{
    CandleResampler, MonteCarlo, ObservedTrade, PathFilter, PathRow, observed_trades,
};
use candlewick_search::sweep::Figures;
use candlewick_statistics::{BlockBootstrap, BlockLength, best_block_length};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resampling {
    Candles,
    Trades,
}

impl fmt::Display for Resampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Candles => "candles",
            Self::Trades => "trades",
        })
    }
}

impl FromStr for Resampling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "candles" => Ok(Self::Candles),
            "trades" => Ok(Self::Trades),
            _ => Err("use candles or trades".to_owned()),
        }
    }
}

#[derive(Clone, Debug)]
pub struct MonteCarloSpec {
    pub resampling: Resampling,
    pub paths: u64,
    /// Mean block length. If `None`, the method of Politis and White estimates the length from the data.
    pub block_length: Option<f64>,
    pub seed: u64,
    pub threads: Option<NonZeroUsize>,
    pub candles: CandleChoice,
}

pub struct PreparedMonteCarlo<'a> {
    pub spec: MonteCarloSpec,
    basis: RowPlanBasis<'a>,
    trades: Vec<ObservedTrade>,
    pub observed: PathRow,
    pub block_length: f64,
    pub identity: Value,
}

impl MonteCarloSpec {
    pub fn prepare<'a>(
        self,
        files: &[PathBuf],
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<PreparedMonteCarlo<'a>> {
        let loaded = LoadedConfig::read(files, BaseLayer::Sandbox, self.candles.flags())?;
        self.prepare_loaded(loaded, registry, progress)
    }

    fn prepare_loaded<'a>(
        self,
        loaded: LoadedConfig,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<PreparedMonteCarlo<'a>> {
        let candles = self.candles.clone();
        let (basis, strategies) = RowPlanBasis::prepare(candles, loaded, registry, progress)?;
        let prepared = &basis.prepared;
        if !prepared.signals.is_empty() {
            let text = "signals.list cannot be used, because resampled candles have different times";
            return Err(AppError::invalid(text).with_help("remove signals.list"));
        }
        let finished = prepared.replay(strategies, None, progress)?.result;
        let trades = observed_trades(&finished.book);
        if trades.is_empty() {
            let text = "the backtest has no settled trades to resample";
            return Err(AppError::invalid(text).with_help("use more candles or another bot"));
        }
        let candles = prepare_resampling(prepared)?;
        let block = self.block_length.unwrap_or_else(|| match self.resampling {
            Resampling::Candles => best_block_length(&candles.move_sizes()),
            Resampling::Trades => best_block_length(&trade_returns(&trades)),
        });
        let (balance, scale) = (prepared.loaded.initial_balance()?, finished.money_scale);
        let figures = Figures::new(&finished, balance, &prepared.candles.span());
        let end = finished.final_balance;
        let observed = PathRow {
            path: 0,
            rung: 0,
            trades: figures.trades,
            final_balance: scale.to_f64(end),
            max_drawdown: figures.max_drawdown,
            max_drawdown_percent: figures.max_drawdown_percent,
            is_ruined: end < min_stake(&trades),
        };
        let Self { resampling, paths, seed, .. } = self;
        let own = json!({ "resampling": resampling, "paths": paths, "block": block, "seed": seed });
        let identity = basis.identity(own)?;
        BlockBootstrap::new(self.seed, BlockLength::Mean(block))
            .map_err(|error| AppError::invalid(format!("--block: {error}")).with_help("use at least 1"))?;
        Ok(PreparedMonteCarlo { spec: self, basis, trades, observed, block_length: block, identity })
    }
}

fn trade_returns(trades: &[ObservedTrade]) -> Vec<f64> {
    let ratio = |trade: &ObservedTrade| {
        let scale = candlewick_sdk::MoneyScale::default();
        scale.to_f64(trade.profit) / scale.to_f64(trade.stake)
    };
    trades.iter().map(ratio).filter(|one| one.is_finite()).collect()
}

fn min_stake(trades: &[ObservedTrade]) -> Money {
    trades.iter().map(|trade| trade.stake).min().unwrap_or_default()
}

fn prepare_resampling(prepared: &PreparedBacktest) -> Result<CandleResampler<'_>> {
    let resampled = CandleResampler::new(&prepared.candles.series, &prepared.candles.markets);
    resampled.map_err(|error| AppError::invalid(error.to_string()))
}

impl PreparedMonteCarlo<'_> {
    pub const fn backtest(&self) -> &PreparedBacktest {
        &self.basis.prepared
    }

    pub fn run(&self, paths: Range<u64>, watcher: &PathFilter<'_>) -> Result<Vec<PathRow>> {
        let bootstrap = BlockBootstrap::new(self.spec.seed, BlockLength::Mean(self.block_length));
        let PreparedBacktest { loaded, settings, wants_prices, .. } = self.backtest();
        let to_error = |error| convert_search_error(error, loaded);
        let monte_carlo = MonteCarlo {
            bootstrap: bootstrap.map_err(|error| AppError::invalid(error.to_string()))?,
            balance: loaded.initial_balance()?,
            min_stake: min_stake(&self.trades),
            scale: settings.session.money_scale,
            threads: thread_count(self.spec.threads),
        };
        match self.spec.resampling {
            Resampling::Trades => {
                monte_carlo.resample_trades((&self.trades, paths), watcher).map_err(to_error)
            }
            Resampling::Candles => {
                let candles = prepare_resampling(self.backtest())?;
                let build = || build_strategies(&settings.session, self.basis.registry);
                let terms = (settings, &wants_prices[..], &build as _);
                monte_carlo.resample_candles((&candles, paths), terms, watcher).map_err(to_error)
            }
        }
    }
}

pub type MonteCarloPlan = RowPlan<PlannedPaths>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlannedPaths {
    resampling: Resampling,
    block: Option<f64>,
    seed: u64,
}

impl PlannedRow for PathRow {
    fn index(&self) -> u64 {
        self.path
    }
}

impl PreparedMonteCarlo<'_> {
    pub fn plan(&self, shards: u64) -> Result<MonteCarloPlan> {
        let MonteCarloSpec { resampling, block_length, seed, paths, .. } = self.spec;
        let own = PlannedPaths { resampling, block: block_length, seed };
        RowPlan::new(PlannedCommand::MonteCarlo, (paths, shards), own, (&self.basis, &self.identity))
    }
}

impl MonteCarloPlan {
    pub fn prepare<'a>(
        &self,
        (path, place): (&Path, PlanLocation),
        others: ProgramMismatchPolicy,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<(PreparedMonteCarlo<'a>, PlanDifferences)> {
        let found = self.check_program(others)?;
        let threads = place.threads;
        let (candles, loaded) = self.load_configuration(path, place)?;
        let PlannedPaths { resampling, block, seed } = *self.own_arguments();
        let terms =
            MonteCarloSpec { resampling, paths: self.sets, block_length: block, seed, threads, candles };
        let prepared = terms.prepare_loaded(loaded, registry, progress)?;
        self.check((&prepared.basis, &prepared.identity))?;
        Ok((prepared, found))
    }
}
