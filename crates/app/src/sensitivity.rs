//! Sensitivity analysis: repeats a backtest with one venue setting changed at a time.

use crate::backtest::PreparedBacktest;
use crate::candles::CandleChoice;
use crate::configuration::{BaseLayer, LoadedConfig};
use crate::error::Result;
use crate::progress::Progress;
use crate::search::{
    PlanDifferences, PlanLocation, PlannedCommand, PlannedRow, ProgramMismatchPolicy, RowPlan, RowPlanBasis,
};
use candlewick_sdk::Registry;
use candlewick_search::sensitivity::{RunFilter, SensitivityRow};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct SensitivitySpec {
    pub threads: Option<NonZeroUsize>,
    pub candles: CandleChoice,
}

pub struct PreparedSensitivity<'a> {
    basis: RowPlanBasis<'a>,
    threads: Option<NonZeroUsize>,
    pub runs: u64,
    pub identity: Value,
}

impl SensitivitySpec {
    pub fn prepare<'a>(
        self,
        files: &[PathBuf],
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<PreparedSensitivity<'a>> {
        let loaded = LoadedConfig::read(files, BaseLayer::Sandbox, self.candles.flags())?;
        self.prepare_loaded(loaded, registry, progress)
    }

    fn prepare_loaded<'a>(
        self,
        loaded: LoadedConfig,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<PreparedSensitivity<'a>> {
        // Each run builds its own strategies.
        let (basis, _) = RowPlanBasis::prepare(self.candles, loaded, registry, progress)?;
        let runs = basis
            .prepared
            .with_sensitivity_analysis(registry, self.threads, |repeat| Ok(repeat.run_count()))?;
        let identity = basis.identity(json!({ "runs": runs }))?;
        Ok(PreparedSensitivity { basis, threads: self.threads, runs, identity })
    }
}

impl PreparedSensitivity<'_> {
    pub const fn backtest(&self) -> &PreparedBacktest {
        &self.basis.prepared
    }

    pub fn run(&self, runs: Range<u64>, watcher: &RunFilter<'_>) -> Result<Vec<SensitivityRow>> {
        let RowPlanBasis { prepared, registry, .. } = &self.basis;
        prepared.with_sensitivity_analysis(registry, self.threads, |repeat| repeat.run(runs, watcher))
    }

    pub fn plan(&self, shards: u64) -> Result<SensitivityPlan> {
        let cut = (self.runs, shards);
        RowPlan::new(PlannedCommand::Sensitivity, cut, PlannedRuns {}, (&self.basis, &self.identity))
    }
}

pub type SensitivityPlan = RowPlan<PlannedRuns>;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PlannedRuns {}

impl PlannedRow for SensitivityRow {
    fn index(&self) -> u64 {
        self.run
    }
}

impl SensitivityPlan {
    pub fn prepare<'a>(
        &self,
        (path, place): (&Path, PlanLocation),
        others: ProgramMismatchPolicy,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<(PreparedSensitivity<'a>, PlanDifferences)> {
        let found = self.check_program(others)?;
        let threads = place.threads;
        let (candles, loaded) = self.load_configuration(path, place)?;
        let prepared = SensitivitySpec { threads, candles }.prepare_loaded(loaded, registry, progress)?;
        self.check((&prepared.basis, &prepared.identity))?;
        Ok((prepared, found))
    }
}
