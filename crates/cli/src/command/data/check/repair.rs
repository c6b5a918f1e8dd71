//! `--fix`: a new file, or a new version in the catalog; the original stays as it is.

use crate::command::data::existing;
use candlewick_app::data::check::RepairTerms;
use candlewick_history::{FindingKind, Remedy};
use clap::Args;
use std::path::PathBuf;

/// Whether and how to repair.
#[derive(Debug, Args)]
#[command(next_help_heading = "Repair")]
pub(crate) struct RepairArguments {
    /// Write a copy without what is certainly wrong: of a file, in a folder "fixed" beside it; in the catalog, a new version
    #[arg(long)]
    fix: bool,
    /// Mend these kinds, too, between commas: leave out closed, spike, flat; give a revised candle its latest value
    #[arg(long, value_name = "KINDS", value_delimiter = ',', requires = "fix", value_parser = parse_doubtful)]
    also: Vec<FindingKind>,
    /// The repaired file, .csv or .parquet
    #[arg(long, value_name = "FILE", requires = "fix")]
    out: Option<PathBuf>,
    /// Replace the repaired file when it is there
    #[arg(long, requires = "fix")]
    force: bool,
}

impl RepairArguments {
    /// What to repair; none where nothing is.
    pub(super) fn terms(&self) -> Option<RepairTerms> {
        let existing = existing(self.force);
        self.fix.then(|| RepairTerms { also: self.also.clone(), out: self.out.clone(), existing })
    }
}

/// `--also`: a kind that a repair can mend when asked.
fn parse_doubtful(text: &str) -> Result<FindingKind, String> {
    let kind: FindingKind =
        text.parse().map_err(|error: candlewick_history::ParseFindingKindError| error.to_string())?;
    match kind.remedy() {
        Remedy::LeaveOut | Remedy::TakeLatest => Ok(kind),
        Remedy::Always => Err(format!("--fix mends {kind} anyway")),
        Remedy::Nothing => Err(format!("nothing mends a {kind}; use closed, spike, flat or revised")),
    }
}
