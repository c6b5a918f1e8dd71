//! What a search is asked for and needs, and what a sweep leaves behind: a folder of files, and the report.

mod census;
mod folder;
mod named_files;
mod report;
mod search;
mod shards;

pub(crate) use census::notes_of;
pub(crate) use folder::{Identity, ResultFolder};
pub(crate) use report::{SweepReport, Tried};
pub(crate) use search::{Prepared, SearchArguments};
pub(crate) use shards::ShardPlan;
