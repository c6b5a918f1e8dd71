//! Searches: their terms, preparation and result folder.

mod expiries;
mod folder;
mod hold_out_lock;
mod hold_out_range;
mod layout;
mod named_files;
mod plan;
mod plan_checks;
mod planned_candles;
mod prepared;
mod rounds;
mod row_plan;
mod shards;
mod variants;
mod walk;
mod walk_shards;

pub use folder::{Identity, ResultFolder, best_bot};
pub use hold_out_lock::{HoldOutLock, Hypothesis, KnownLooks, OpeningRecord, OpeningRequest, Reopening};
pub use layout::{Layout, LayoutTerms};
pub use named_files::files_of_bots;
pub use plan::{
    OtherProgram, PLAN_FILE, PlanDifferences, PlanPlace, PlannedCommand, PlannedWalk, SearchPlan,
};
pub(crate) use prepared::chosen_bot;
pub(crate) use prepared::deciding_sections;
pub use prepared::{PreparedSearch, SearchTerms};
pub use rounds::RoundShard;
pub(crate) use row_plan::RowPlanBasis;
pub use row_plan::{PlannedRow, RowPlan};
pub use shards::GatheredShards;
pub use variants::{SweepRun, TriedCount, count_sweep};
pub use walk::{HoldOutOutcome, HoldOutUse, WalkEnd, WalkOutcome, WalkProgress, WalkRun, WalkWatcher};
pub use walk_shards::WalkShard;
