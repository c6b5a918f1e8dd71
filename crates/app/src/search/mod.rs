//! What a search is asked for and needs, and the folder of files that a sweep leaves behind.

mod census;
mod folder;
mod named_files;
mod search;
mod shards;

pub(crate) use census::notes_of;
pub(crate) use folder::{Identity, ResultFolder};
pub(crate) use search::{Prepared, SearchArguments};
pub(crate) use shards::ShardPlan;
