//! Preparation, plans and result folders of searches.

mod folder;
mod plan;
mod prepared;
mod row_plan;
mod shards;
mod walk;

pub use folder::{ResultFolder, render_best_bot};
pub use plan::{
    PLAN_FILE, PlanDifferences, PlanLocation, PlannedCommand, PlannedWalk, ProgramMismatchPolicy, SearchPlan,
};
pub(crate) use prepared::find_bot_index;
pub use prepared::{PreparedSearch, SearchOptions, hash_bot_files};
pub(crate) use row_plan::RowPlanBasis;
pub use row_plan::{PlannedRow, RowPlan};
pub use shards::{GatheredShards, RoundShard};
pub use walk::{Layout, LayoutSpec, WalkEnd, WalkOutcome, WalkProgress, WalkRun, WalkShard, WalkWatcher};
