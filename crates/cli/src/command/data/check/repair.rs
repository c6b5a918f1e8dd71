//! `--fix`: a new file, or a new version in the catalog; the original stays as it is.

use super::Subject;
use crate::context::Context;
use crate::failure::{Failure, FailureKind};
use crate::progress::with_spinner;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_history::{
    CandleFormat, Catalog, Checked, DataSource, FindingKind, Findings, Fixed, HistoryError, Origin, Remedy,
};
use candlewick_sdk::CandleSeries;
use clap::Args;
use std::path::{Path, PathBuf};

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

/// What a repair did.
pub(super) struct Repaired {
    pub(super) fixed: Fixed,
    /// Where the candles are now; none when nothing was to do.
    pub(super) place: Option<Place>,
    /// What is still wrong.
    pub(super) left: Findings,
}

/// Where repaired candles are.
pub(super) enum Place {
    /// In a file.
    File(PathBuf),
    /// In the catalog, as the version of that number.
    Version(u32),
}

impl RepairArguments {
    pub(super) const fn is_wanted(&self) -> bool {
        self.fix
    }

    /// Refuses what cannot be done before anything is read.
    pub(super) fn hold_to(&self, subjects: &[Subject]) -> Result<(), Failure> {
        let Some(out) = &self.out else { return Ok(()) };
        if !matches!(subjects, [Subject::File(..)]) {
            let help = "repair one file at a time; a series of the catalog gets a new version";
            return Err(Failure::configuration("--out takes the candles of one file").help(help));
        }
        format_of(out).map(|_| ())
    }

    pub(super) fn apply(
        &self,
        subject: &Subject,
        checked: &Checked,
        catalog: &Catalog,
        context: &Context<'_>,
    ) -> Result<Option<Repaired>, Failure> {
        if !self.fix {
            return Ok(None);
        }
        let fixed = checked.fix(&self.also);
        if !fixed.is_change() {
            return Ok(Some(Repaired { fixed, place: None, left: checked.findings.clone() }));
        }
        let Some(candles) = &fixed.candles else {
            let problem = format!("{subject}: no candle is sound; there is nothing to write");
            return Err(Failure::data(problem));
        };
        let place = match subject {
            Subject::Stored(_) => Place::Version(store(catalog, candles, &fixed)?),
            Subject::File(path, _) => {
                let out = self.target(path, candles)?;
                let format = format_of(&out)?;
                with_spinner(&format!("Writing {}", out.display()), context.global, || {
                    format.write_file(candles, &out)
                })?;
                Place::File(out)
            }
        };
        let left = checked.check_again(&fixed, &self.also).map(|again| again.findings).unwrap_or_default();
        Ok(Some(Repaired { fixed, place: Some(place), left }))
    }

    /// The file to write, which is not the one that was read.
    fn target(&self, original: &Path, candles: &CandleSeries) -> Result<PathBuf, Failure> {
        let out = match &self.out {
            Some(out) => out.clone(),
            None => beside(original, candles)?,
        };
        let same =
            |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
        if same(&out, original) {
            let problem = format!("--out {}: this is the original, which is never changed", out.display());
            return Err(Failure::configuration(problem).help("take another name"));
        }
        if out.exists() && !self.force {
            let problem = format!("{}: the file is there already", out.display());
            return Err(Failure::configuration(problem).help("--force replaces it; --out takes another name"));
        }
        Ok(out)
    }
}

fn beside(original: &Path, candles: &CandleSeries) -> Result<PathBuf, Failure> {
    let folder = original.parent().unwrap_or(Path::new("")).join("fixed");
    let out = DataSource::in_folder(&folder, candles.series())?.path;
    std::fs::create_dir_all(&folder).map_err(|error| {
        let problem = format!("cannot make the folder {}", folder.display());
        Failure::new(FailureKind::Data, anyhow::Error::new(error)).context(problem)
    })?;
    Ok(out)
}

fn format_of(out: &Path) -> Result<CandleFormat, Failure> {
    CandleFormat::of_path(out).ok_or_else(|| {
        let problem = format!("--out {}: the name does not say the format", out.display());
        Failure::configuration(problem).help("let it end in .csv or .parquet")
    })
}

fn store(catalog: &Catalog, candles: &CandleSeries, fixed: &Fixed) -> Result<u32, HistoryError> {
    let note = format!("repaired: {} left out, {} given their latest value", fixed.removed, fixed.replaced);
    let source = "data check --fix".to_owned();
    let fetched_at = SystemClock::new().now();
    catalog.add_repair(candles, &note, &Origin { source, licence: None, fetched_at, files: Vec::new() })
}

/// `--also`: a kind that a repair can mend when asked.
fn parse_doubtful(text: &str) -> Result<FindingKind, String> {
    let kind: FindingKind =
        text.parse().map_err(|error: candlewick_history::FindingKindError| error.to_string())?;
    match kind.remedy() {
        Remedy::LeaveOut | Remedy::TakeLatest => Ok(kind),
        Remedy::Always => Err(format!("--fix mends {kind} anyway")),
        Remedy::Nothing => Err(format!("nothing mends a {kind}; use closed, spike, flat or revised")),
    }
}
