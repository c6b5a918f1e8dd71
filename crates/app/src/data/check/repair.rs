//! Repair of candles into a new file or catalog version, without modifying the original.

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

#[derive(Clone, Debug)]
pub struct RepairTerms {
    pub also: Vec<FindingKind>,
    /// Rule for conflicting candles of the same time; `None` aborts the repair.
    pub conflicts: Option<ConflictChoice>,
    /// The repaired file, by default in a folder `fixed` next to the original.
    pub out: Option<PathBuf>,
    pub existing: Existing,
}

#[derive(Debug)]
pub struct Repaired {
    pub removed: u64,
    pub replaced: u64,
    pub sorted: bool,
    pub place: Option<RepairedPlace>,
    pub left: Findings,
    pub again: Option<Checked>,
}

#[derive(Debug)]
pub enum RepairedPlace {
    File(PathBuf),
    Version(u32),
}

impl RepairTerms {
    pub fn check(&self, targets: &[CheckTarget]) -> Result<(), AppError> {
        let Some(out) = &self.out else { return Ok(()) };
        if !matches!(targets, [CheckTarget::File(..)]) {
            let help = "repair one file at a time; a series of the catalog gets a new version";
            return Err(AppError::invalid("--out takes the candles of one file").help(help));
        }
        OutputFile::new(out, Existing::Replaced).map(drop)
    }

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
