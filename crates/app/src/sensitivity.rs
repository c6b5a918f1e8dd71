//! Repeats a backtest with one venue setting changed at a time, on one machine or in shards.

use crate::backtest::{BacktestTerms, PreparedBacktest};
use crate::candles::CandleChoice;
use crate::configuration::{Base, Loaded};
use crate::error::Result;
use crate::program_hash::Program;
use crate::progress::Progress;
use crate::search::{
    OtherProgram, PlanDifferences, PlanPlace, PlannedCommand, PlannedRow, RowPlan, RowPlanBasis,
    deciding_sections, files_of_bots,
};
use candlewick_sdk::Registry;
use candlewick_search::sensitivity::{RepeatWatcher, SensitivityRow};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct SensitivityTerms {
    /// `None` selects one per core. The result does not depend on it.
    pub threads: Option<NonZeroUsize>,
    pub candles: CandleChoice,
}

pub struct PreparedSensitivity<'a> {
    terms: SensitivityTerms,
    registry: &'a Registry,
    prepared: PreparedBacktest,
    pub runs: u64,
    sections: Value,
    pub identity: Value,
}

impl SensitivityTerms {
    pub fn prepare<'a>(
        self,
        files: &[PathBuf],
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<PreparedSensitivity<'a>> {
        let loaded = Loaded::read(files, Base::Sandbox, self.candles.flags())?;
        self.prepare_loaded(loaded, registry, progress)
    }

    fn prepare_loaded<'a>(
        self,
        loaded: Loaded,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<PreparedSensitivity<'a>> {
        let sections = deciding_sections(&loaded);
        let terms = BacktestTerms { candles: self.candles.clone(), ..BacktestTerms::default() };
        // Each run builds its own strategies.
        let (prepared, _) = terms.prepare_loaded(loaded, registry, progress)?;
        let runs = prepared.repeat(registry, self.threads, |repeat| Ok(repeat.runs()))?;
        let identity = json!({
            "program": Program::running()?.hash,
            "strategies": prepared.header.strategies,
            "data_hash": prepared.candles.hash,
            "files": files_of_bots(&prepared.settings.session.bots)?,
            "runs": runs,
            "settings": prepared.settings,
        });
        Ok(PreparedSensitivity { terms: self, registry, prepared, runs, sections, identity })
    }
}

impl PreparedSensitivity<'_> {
    pub const fn backtest(&self) -> &PreparedBacktest {
        &self.prepared
    }

    pub fn run(&self, runs: Range<u64>, watcher: &RepeatWatcher<'_>) -> Result<Vec<SensitivityRow>> {
        self.prepared.repeat(self.registry, self.terms.threads, |repeat| repeat.run(runs, watcher))
    }
}

pub type SensitivityPlan = RowPlan<PlannedRepeats>;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PlannedRepeats {}

impl PlannedRow for SensitivityRow {
    fn place(&self) -> u64 {
        self.run
    }
}

impl PreparedSensitivity<'_> {
    pub fn plan(&self, shards: u64) -> Result<SensitivityPlan> {
        let basis = RowPlanBasis {
            prepared: &self.prepared,
            choice: &self.terms.candles,
            sections: &self.sections,
            identity: &self.identity,
        };
        RowPlan::new(PlannedCommand::Sensitivity, (self.runs, shards), PlannedRepeats {}, &basis)
    }
}

impl SensitivityPlan {
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_of(path, PlannedCommand::Sensitivity)
    }

    pub fn prepare<'a>(
        &self,
        (path, place): (&Path, PlanPlace),
        others: OtherProgram,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<(PreparedSensitivity<'a>, PlanDifferences)> {
        let found = self.check_program(others)?;
        let threads = place.threads;
        let (candles, loaded) = self.loaded(path, place)?;
        let prepared = SensitivityTerms { threads, candles }.prepare_loaded(loaded, registry, progress)?;
        self.check((&prepared.prepared, &prepared.identity), "repeated")?;
        Ok((prepared, found))
    }
}
