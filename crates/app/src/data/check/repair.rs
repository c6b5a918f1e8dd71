//! A repair: a new file, or a new version in the catalog; the original stays as it is.

use super::CheckTarget;
use crate::data::{Existing, OutputFile};
use crate::error::AppError;
use crate::progress::Progress;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_history::{
    CandleFile, Catalog, Checked, ConflictChoice, FindingKind, Findings, Fixed, Origin,
};
use candlewick_sdk::CandleSeries;
use std::path::{Path, PathBuf};

/// What to repair, and where the result goes.
#[derive(Clone, Debug)]
pub struct RepairTerms {
    /// Doubtful kinds that are mended, beside those that are certainly wrong.
    pub also: Vec<FindingKind>,
    /// Rule for conflicting candles of one time; without it they stop the repair.
    pub conflicts: Option<ConflictChoice>,
    /// The repaired file; in a folder "fixed" beside the original when left out.
    pub out: Option<PathBuf>,
    /// Whether a repaired file that is there is replaced.
    pub existing: Existing,
}

/// What a repair did.
#[derive(Debug)]
pub struct Repaired {
    /// How many rows were left out.
    pub removed: u64,
    /// How many rows got their latest value.
    pub replaced: u64,
    /// Whether rows were put in order.
    pub sorted: bool,
    /// Where the candles are now; none when nothing was to do.
    pub place: Option<RepairedPlace>,
    /// What is still wrong.
    pub left: Findings,
    /// Check of the written candles; `None` if nothing was written.
    pub again: Option<Checked>,
}

/// Where repaired candles are.
#[derive(Debug)]
pub enum RepairedPlace {
    /// In a file.
    File(PathBuf),
    /// In the catalog, as the version of that number.
    Version(u32),
}

impl RepairTerms {
    /// Refuses what cannot be done before anything is read.
    ///
    /// # Errors
    /// One output file for anything but one file, or one whose name does not say the format.
    pub fn check(&self, targets: &[CheckTarget]) -> Result<(), AppError> {
        let Some(out) = &self.out else { return Ok(()) };
        if !matches!(targets, [CheckTarget::File(..)]) {
            let help = "repair one file at a time; a series of the catalog gets a new version";
            return Err(AppError::invalid("--out takes the candles of one file").help(help));
        }
        OutputFile::new(out, Existing::Replaced).map(drop)
    }

    /// Writes a copy without what is certainly wrong, and without what is doubtful where that is asked for.
    ///
    /// # Errors
    /// No candle is sound, or the copy cannot be written.
    pub fn repair(
        &self,
        target: &CheckTarget,
        checked: &Checked,
        catalog: &Catalog,
        progress: &dyn Progress,
    ) -> Result<Repaired, AppError> {
        let resolved = self.conflicts.map(|choice| checked.choose(choice));
        let checked = resolved.as_ref().unwrap_or(checked);
        if checked.conflicts() > 0 {
            let problem = format!("{target}: {} times have rows with different values", checked.conflicts());
            let help =
                "say which row is right: --also conflict=first, conflict=last or conflict=larger (by volume)";
            return Err(AppError::invalid(problem).help(help));
        }
        let fixed = checked.fix(&self.also);
        let Fixed { removed, replaced, sorted, .. } = fixed;
        if !fixed.is_change() {
            let left = checked.findings.clone();
            return Ok(Repaired { removed, replaced, sorted, place: None, left, again: None });
        }
        let Some(candles) = &fixed.candles else {
            let problem = format!("{target}: no candle is sound; there is nothing to write");
            return Err(AppError::data(problem));
        };
        let place = match target {
            CheckTarget::Stored(_) => RepairedPlace::Version(store(catalog, candles, &fixed)?),
            CheckTarget::File(path, _) => {
                let out = self.output_file(path, candles)?;
                let _spinner = progress.spinner(&format!("Writing {}", out.path().display()));
                out.write(candles)?;
                RepairedPlace::File(out.path().to_owned())
            }
        };
        let again = checked.check_again(&fixed, &self.also);
        let left = again.as_ref().map(|again| again.findings.clone()).unwrap_or_default();
        Ok(Repaired { removed, replaced, sorted, place: Some(place), left, again })
    }

    /// The file to write, which is not the one that was read.
    fn output_file(&self, original: &Path, candles: &CandleSeries) -> Result<OutputFile, AppError> {
        let out = match &self.out {
            Some(out) => out.clone(),
            None => beside(original, candles)?,
        };
        let same =
            |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
        if same(&out, original) {
            let problem = format!("--out {}: this is the original, which is never changed", out.display());
            return Err(AppError::invalid(problem).help("take another name"));
        }
        OutputFile::new(&out, self.existing)
    }
}

fn beside(original: &Path, candles: &CandleSeries) -> Result<PathBuf, AppError> {
    let folder = original.parent().unwrap_or(Path::new("")).join("fixed");
    let out = CandleFile::in_folder(&folder, candles.series())?.path;
    std::fs::create_dir_all(&folder).map_err(|error| {
        AppError::data(format!("cannot make the folder {}", folder.display())).because(error)
    })?;
    Ok(out)
}

fn store(catalog: &Catalog, candles: &CandleSeries, fixed: &Fixed) -> Result<u32, AppError> {
    let note = format!("repaired: {} left out, {} given their latest value", fixed.removed, fixed.replaced);
    let source = "data check --fix".to_owned();
    let fetched_at = SystemClock::new().now();
    let origin = Origin { source, licence: None, fetched_at, files: Vec::new() };
    Ok(catalog.add_repair(candles, &note, &origin)?)
}
