//! `--fix`: writes a new file, or a new version in the catalog; the original stays unchanged.

use crate::command::data::existing;
use candlewick_app::data::check::RepairTerms;
use candlewick_history::{ConflictChoice, FindingKind, Remedy};
use clap::Args;
use std::path::PathBuf;

/// Whether and how to repair.
#[derive(Debug, Args)]
#[command(next_help_heading = "Repair")]
pub(crate) struct RepairArguments {
    /// Write a copy without what is certainly wrong: of a file, in a folder "fixed" beside it; in the catalog, a new version
    #[arg(long)]
    fix: bool,
    /// Mend these kinds, too, between commas: leave out closed, spike, flat; give a revised candle its latest value; of different rows of one time keep conflict=first, last or larger
    #[arg(long, value_name = "KINDS", value_delimiter = ',', requires = "fix", value_parser = parse_extra_repair)]
    also: Vec<ExtraRepair>,
    /// The repaired file, .csv or .parquet
    #[arg(long, value_name = "FILE", requires = "fix")]
    out: Option<PathBuf>,
    /// Replace the repaired file when it is there
    #[arg(long, requires = "fix")]
    force: bool,
}

impl RepairArguments {
    pub(super) fn terms(&self) -> Option<RepairTerms> {
        let existing = existing(self.force);
        let kinds = self.also.iter().filter_map(|also| match also {
            ExtraRepair::Kind(kind) => Some(*kind),
            ExtraRepair::Conflict(_) => None,
        });
        let conflicts = self.also.iter().rev().find_map(|also| match also {
            ExtraRepair::Conflict(choice) => Some(*choice),
            ExtraRepair::Kind(_) => None,
        });
        self.fix.then(|| RepairTerms { also: kinds.collect(), conflicts, out: self.out.clone(), existing })
    }
}

#[derive(Clone, Copy, Debug)]
enum ExtraRepair {
    Kind(FindingKind),
    Conflict(ConflictChoice),
}

fn parse_extra_repair(text: &str) -> Result<ExtraRepair, String> {
    if let Some(("conflict" | "duplicate", choice)) = text.split_once('=') {
        let choice: Result<ConflictChoice, _> = choice.parse();
        return choice.map(ExtraRepair::Conflict).map_err(|error| error.to_string());
    }
    let kind: FindingKind =
        text.parse().map_err(|error: candlewick_history::ParseChoiceError| error.to_string())?;
    match kind.remedy() {
        Remedy::LeaveOut | Remedy::TakeLatest => Ok(ExtraRepair::Kind(kind)),
        Remedy::Choose => {
            Err("say which row to keep: conflict=first, conflict=last or conflict=larger".to_owned())
        }
        Remedy::Always => Err(format!("--fix mends {kind} anyway")),
        Remedy::Nothing => Err(format!("nothing mends a {kind}; use closed, spike, flat or revised")),
    }
}
