//! What a sweep leaves behind: a folder of files, and the report.

mod folder;
mod report;

pub(crate) use folder::{Identity, ResultFolder};
pub(crate) use report::{SweepReport, Tried};
