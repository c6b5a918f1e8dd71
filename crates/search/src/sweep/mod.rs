//! Parameter sweeps: many backtests of one bot, each with its own parameter set.
//!
//! The same seed gives the same rows, regardless of the number of threads and of interruptions.

mod axis;
mod axis_text;
mod condition;
mod correction;
mod figures;
mod halving;
mod luck;
mod objective;
mod progress;
mod result_table;
mod rounds;
mod run;
mod search;
mod setting;
mod shard;
mod shared;
mod space;
mod timeline;
mod trial_journal;
mod trial_row;
mod trial_runner;

pub use axis::{Axis, Target};
pub use condition::Condition;
pub use correction::corrected_p_values;
pub use figures::Figures;
pub use progress::{SweepProgress, Watcher};
pub use trial_runner::{Replay, TrialEnd, TrialRunner};

pub use halving::Halving;
pub use luck::Luck;
pub use objective::Objective;
pub use result_table::{write_trials_csv, write_trials_parquet};
pub use rounds::{Round, Rounds};
pub use run::{Sweep, SweepEnd, SweepSettings};
pub use search::{DEFAULT_BATCH, Search, SearchSettings};
pub use setting::Setting;
pub use shard::Shard;
pub use shared::{DeclarationUse, SharedRunner, Trial, TrialTrade};
pub use space::{Candidate, Space};
pub use timeline::{TIMELINE_PARTS, Timeline};
pub use trial_journal::{Outcome, Record, TrialJournal};
pub use trial_row::{TrialRow, ranked};
use trial_runner::PreparedTrial;
