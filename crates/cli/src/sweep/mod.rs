//! What a search is asked for and needs, and what a sweep leaves behind: a folder of files, and the report.

mod census;
mod folder;
mod report;
mod search;

pub(crate) use census::notes_of;
pub(crate) use folder::{Identity, ResultFolder};
pub(crate) use report::{SweepReport, Tried};
pub(crate) use search::{Prepared, SearchArguments};
