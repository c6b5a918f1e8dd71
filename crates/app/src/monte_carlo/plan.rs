//! Plan of a sharded Monte Carlo run.

use super::{MonteCarloTerms, PreparedMonteCarlo, Resampling};
use crate::error::AppError;
use crate::progress::Progress;
use crate::search::{
    OtherProgram, PlanDifferences, PlanPlace, PlannedCommand, PlannedRow, RowPlan, RowPlanBasis,
};
use candlewick_sdk::Registry;
use candlewick_search::monte_carlo::PathRow;
use serde::{Deserialize, Serialize};
use std::path::Path;

pub type MonteCarloPlan = RowPlan<PlannedPaths>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlannedPaths {
    resampling: Resampling,
    block: Option<f64>,
    seed: u64,
}

impl PlannedRow for PathRow {
    fn place(&self) -> u64 {
        self.path
    }
}

impl PreparedMonteCarlo<'_> {
    pub fn plan(&self, shards: u64) -> Result<MonteCarloPlan, AppError> {
        let MonteCarloTerms { resampling, block, seed, ref candles, paths, .. } = self.terms;
        let basis = RowPlanBasis {
            prepared: &self.prepared,
            choice: candles,
            sections: &self.sections,
            identity: &self.identity,
        };
        let own = PlannedPaths { resampling, block, seed };
        RowPlan::new(PlannedCommand::MonteCarlo, (paths, shards), own, &basis)
    }
}

impl MonteCarloPlan {
    pub fn read(path: &Path) -> Result<Self, AppError> {
        Self::read_of(path, PlannedCommand::MonteCarlo)
    }

    pub fn prepare<'a>(
        &self,
        (path, place): (&Path, PlanPlace),
        others: OtherProgram,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<(PreparedMonteCarlo<'a>, PlanDifferences), AppError> {
        let found = self.check_program(others)?;
        let threads = place.threads;
        let (candles, loaded) = self.loaded(path, place)?;
        let PlannedPaths { resampling, block, seed } = *self.own();
        let terms = MonteCarloTerms { resampling, paths: self.sets, block, seed, threads, candles };
        let prepared = terms.prepare_loaded(loaded, registry, progress)?;
        self.check((&prepared.prepared, &prepared.identity), "resampled")?;
        Ok((prepared, found))
    }
}
