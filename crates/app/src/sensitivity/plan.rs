//! The plan of a sensitivity in parts.

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

/// A sensitivity, and into how many parts it is cut.
pub type SensitivityPlan = RowPlan<PlannedRepeats>;

/// What was asked for of a sensitivity: which settings it tries follows from the run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PlannedRepeats {}

impl PlannedRow for SensitivityRow {
    fn place(&self) -> u64 {
        self.run
    }
}

impl PreparedSensitivity<'_> {
    /// Cuts it into shards.
    ///
    /// # Errors
    /// The program itself cannot be read.
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
    /// Reads it.
    ///
    /// # Errors
    /// There is none, or it is none that this program understands, or another command's.
    pub fn read(path: &Path) -> Result<Self, AppError> {
        Self::read_of(path, PlannedCommand::Sensitivity)
    }

    /// Reads and checks all that it needs here, and holds it to the plan.
    ///
    /// # Errors
    /// What differs: the program, the candles of a series, a setting.
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
