//! Parameter sweeps: many backtests of one bot, each with its own parameter set.
//! The same seed gives the same rows, regardless of threads and interruptions.

mod axis;
mod axis_text;
mod condition;
mod figures;
mod luck;
mod objective;
mod result_table;
mod rounds;
mod run;
mod search;
mod shared;
mod space;
mod timeline;
mod trial_journal;
mod trial_row;
mod trial_runner;

pub use axis::{Axis, AxisTarget, Setting};
pub use condition::Condition;
pub use figures::Figures;
pub use rounds::{Halving, Round, Rounds, Shard};
pub use trial_row::{SweepProgress, SweepWatcher, TrialRow, corrected_p_values, rank_rows};
pub use trial_runner::{Replayer, TrialResult, TrialRunner};

pub use luck::SelectionBias;
pub use objective::Objective;
pub use result_table::{write_trials_csv, write_trials_parquet};
pub use run::{Sweep, SweepEnd, SweepSettings};
pub use search::{DEFAULT_BATCH, Search, SearchSettings};
pub use shared::{DeclarationMode, SharedRunner, Trial, TrialTrade};
pub use space::{Candidate, Space};
pub use timeline::{TIMELINE_PARTS, Timeline};
pub use trial_journal::{Record, TrialEnd, TrialJournal};
use trial_runner::PreparedTrial;

#[cfg(test)]
pub(crate) mod tests;
