//! Plans of sharded sensitivity runs.

use super::{PreparedSensitivity, SensitivityTerms};
use crate::error::AppError;
use crate::progress::Progress;
use crate::search::{
    OtherProgram, PlanDifferences, PlanPlace, PlannedCommand, PlannedRow, RowPlan, RowPlanBasis,
};
use candlewick_sdk::Registry;
use candlewick_search::sensitivity::SensitivityRow;
use serde::{Deserialize, Serialize};
use std::path::Path;

pub type SensitivityPlan = RowPlan<PlannedRepeats>;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PlannedRepeats {}

impl PlannedRow for SensitivityRow {
    fn place(&self) -> u64 {
        self.run
    }
}

impl PreparedSensitivity<'_> {
    pub fn plan(&self, shards: u64) -> Result<SensitivityPlan, AppError> {
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
    pub fn read(path: &Path) -> Result<Self, AppError> {
        Self::read_of(path, PlannedCommand::Sensitivity)
    }

    pub fn prepare<'a>(
        &self,
        (path, place): (&Path, PlanPlace),
        others: OtherProgram,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<(PreparedSensitivity<'a>, PlanDifferences), AppError> {
        let found = self.check_program(others)?;
        let threads = place.threads;
        let (candles, loaded) = self.loaded(path, place)?;
        let prepared = SensitivityTerms { threads, candles }.prepare_loaded(loaded, registry, progress)?;
        self.check((&prepared.prepared, &prepared.identity), "repeated")?;
        Ok((prepared, found))
    }
}
