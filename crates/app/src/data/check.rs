//! Checks candles, and writes repaired copies without changing the original.

use super::{IfExists, OutputFile, ResampledCounts, build_origin};
use crate::candles::{CandleStore, DataName, suggest_catalog_series};
use crate::error::{AppError, Result};
use crate::progress::Progress;
use crate::storage;
use candlewick_history::{
    CandleFile, Catalog, CheckSettings, CheckedSeries, ConflictChoice, Finding, FindingKind, Findings,
    ImportSettings, Remedy, check_file, check_series,
};
use candlewick_records::{count_text, format_number, format_utc, table};
use candlewick_sdk::{CandleSeries, Series};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct RepairOptions {
    pub extra_kinds: Vec<FindingKind>,
    /// Choice of the row to keep if rows with the same time conflict. If `None`, a conflict aborts the repair.
    pub conflicts: Option<ConflictChoice>,
    /// Output file. If `None`, the file is created in a folder `fixed` next to the original.
    pub out: Option<PathBuf>,
    pub existing: IfExists,
}

#[derive(Debug)]
pub struct RepairedCopy {
    removed: u64,
    replaced: u64,
    sorted: bool,
    file: Option<PathBuf>,
    version: Option<u32>,
    left: Findings,
    again: Option<CheckedSeries>,
}

impl RepairOptions {
    pub fn check(&self, targets: &[CheckTarget]) -> Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        if !matches!(targets, [CheckTarget::File(..)]) {
            let help = "repair one file at a time; without --out, a series is repaired in the catalog";
            return Err(AppError::invalid("--out works for a single file only").with_help(help));
        }
        OutputFile::new(out, IfExists::Replaced).map(drop)
    }

    pub fn repair(
        &self,
        target: &CheckTarget,
        checked: &CheckedSeries,
        catalog: &Catalog,
        progress: &dyn Progress,
    ) -> Result<RepairedCopy> {
        let resolved = self.conflicts.map(|choice| checked.resolve_conflicts(choice));
        let checked = resolved.as_ref().unwrap_or(checked);
        if checked.conflict_count() > 0 {
            let problem = format!("{target}: timestamps with conflicting rows: {}", checked.conflict_count());
            let help = "choose which row to keep: --also conflict=first, conflict=last or conflict=larger (by volume)";
            return Err(AppError::invalid(problem).with_help(help));
        }
        let fixed = checked.fix(&self.extra_kinds);
        let mut repaired = RepairedCopy {
            removed: fixed.removed,
            replaced: fixed.replaced,
            sorted: fixed.was_unsorted,
            file: None,
            version: None,
            left: checked.findings.clone(),
            again: None,
        };
        if !fixed.has_changes() {
            return Ok(repaired);
        }
        let Some(candles) = &fixed.candles else {
            return Err(AppError::data(format!("{target}: no valid candles to write")));
        };
        match target {
            CheckTarget::Stored(_) => {
                let note = format!("repaired: {}", repaired.describe_changes());
                let origin = build_origin("data check --fix".to_owned());
                repaired.version = Some(catalog.add_repair(candles, &note, &origin)?);
            }
            CheckTarget::File(path, _) => {
                let out = self.output_file(path, candles)?;
                let _spinner = progress.spinner(&format!("Writing {}", out.path().display()));
                out.write(candles)?;
                repaired.file = Some(out.path().to_owned());
            }
        }
        repaired.again = checked.check_again(&fixed, &self.extra_kinds);
        repaired.left = repaired.again.as_ref().map(|again| again.findings.clone()).unwrap_or_default();
        Ok(repaired)
    }

    fn output_file(&self, original: &Path, candles: &CandleSeries) -> Result<OutputFile> {
        let out = if let Some(out) = &self.out {
            out.clone()
        } else {
            let folder = original.parent().unwrap_or(Path::new("")).join("fixed");
            let out = CandleFile::in_folder(&folder, candles.series())?.path;
            std::fs::create_dir_all(&folder).map_err(|error| {
                AppError::data(format!("cannot create the folder {}", folder.display())).with_source(error)
            })?;
            out
        };
        if out.canonicalize().is_ok_and(|out| original.canonicalize().is_ok_and(|original| out == original)) {
            let problem = format!("--out {} is the original file, which is never changed", out.display());
            return Err(AppError::invalid(problem).with_help("choose another name"));
        }
        OutputFile::new(&out, self.existing)
    }
}

pub struct CheckResult {
    target: CheckTarget,
    checked: CheckedSeries,
    repaired: Option<RepairedCopy>,
    left: BTreeMap<FindingKind, u64>,
    longer: Option<ResampledCounts>,
}

impl CheckResult {
    pub fn new(
        target: CheckTarget,
        mut checked: CheckedSeries,
        repaired: Option<RepairedCopy>,
        ignored: &[FindingKind],
        longer_share_percent: f64,
    ) -> Self {
        checked.findings = checked.findings.without(ignored);
        let left = repaired.as_ref().map_or(&checked.findings, |repaired| &repaired.left);
        let left = left.clone().without(ignored).counts().clone();
        let candles = checked.candles.as_ref();
        let longer = candles.map(|candles| ResampledCounts::from_series(candles, longer_share_percent));
        Self { target, checked, repaired, left, longer }
    }

    pub fn remaining_problems(&self) -> u64 {
        self.left.values().sum()
    }

    pub fn help(all: &[Self]) -> String {
        let mut left: BTreeMap<FindingKind, u64> = BTreeMap::new();
        for (kind, count) in all.iter().flat_map(|result| &result.left) {
            *left.entry(*kind).or_default() += count;
        }
        let of = |is_meant: fn(Remedy) -> bool| {
            let kinds = left.iter().filter(|(kind, _)| is_meant(kind.remedy()));
            let (counts, names): (Vec<String>, Vec<&str>) =
                kinds.map(|(kind, count)| (format!("{count} {kind}"), kind.as_str())).unzip();
            (!counts.is_empty()).then(|| (counts.join(", "), names.join(",")))
        };
        let certain = of(|remedy| remedy == Remedy::Always)
            .map(|(counts, _)| format!("{counts}: --fix writes a repaired copy"));
        let conflicts = of(|remedy| remedy == Remedy::Choose).map(|(counts, _)| {
            format!("{counts}: --fix --also conflict=ROW (first, last or larger) keeps one row per timestamp")
        });
        let doubtful = of(|remedy| matches!(remedy, Remedy::RemoveOnRequest | Remedy::TakeLatest));
        let doubtful = doubtful.map(|(counts, names)| {
            format!("{counts}: --fix --also {names} writes a repaired copy, --ignore {names} accepts them")
        });
        let has_gap = left.contains_key(&FindingKind::Gap);
        let holiday = if has_gap { ", --holiday DATE marks a closed day" } else { "" };
        let nothing = of(|remedy| remedy == Remedy::Nothing).map(|(counts, names)| {
            format!("{counts}: not repairable; --ignore {names} accepts them{holiday}")
        });
        [certain, conflicts, doubtful, nothing].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    pub fn text(&self, limit: usize) -> String {
        let Self { target, checked, repaired, .. } = self;
        let mut text = format!(
            "{target}: {} of {}, session {}; {}",
            count_text(checked.rows, "row", "rows"),
            checked.series,
            checked.session,
            describe_finding_counts(checked)
        );
        if checked.unfinished_rows > 0 {
            let _ = write!(text, "; {} rows of unfinished candles omitted", checked.unfinished_rows);
        }
        let list = checked.findings.list();
        if !list.is_empty() && limit > 0 {
            let mut table = table(["problem", "where", "what"]);
            for of_kind in list.chunk_by(|a, b| a.kind == b.kind) {
                for one in of_kind.iter().take(limit) {
                    table.add_row([one.kind.to_string(), describe_place(one), one.detail.clone()]);
                }
                let kind = of_kind[0].kind;
                let more = checked.findings.counts()[&kind].saturating_sub(of_kind.len().min(limit) as u64);
                if more > 0 {
                    let what = format!("{more} more (--show N or --json)");
                    table.add_row([kind.to_string(), "...".to_owned(), what]);
                }
            }
            let _ = write!(text, "\n{table}");
        }
        if let Some(longer) = self.longer.as_ref().and_then(ResampledCounts::text) {
            let _ = write!(text, "\n  {longer}");
        }
        if let Some(repaired) = repaired {
            let _ = write!(text, "\n  --fix: {}", repaired.text());
        }
        text
    }

    pub fn to_json(&self) -> Value {
        let Self { target, checked, repaired, .. } = self;
        let candles = checked.candles.as_ref();
        let count = |kind: &FindingKind| checked.findings.counts().get(kind).copied().unwrap_or(0);
        let counts = FindingKind::ALL.iter().map(|kind| (kind.to_string(), json!(count(kind))));
        let findings = checked.findings.list().iter().map(|finding| {
            let Finding { kind, row, start, end, count, detail } = finding;
            json!({ "kind": kind.as_str(), "row": row, "start": start, "end": end, "count": count, "detail": detail })
        });
        let file = match target {
            CheckTarget::File(path, _) => Some(path),
            CheckTarget::Stored(_) => None,
        };
        json!({
            "file": file,
            "symbol": checked.series.symbol,
            "interval": checked.series.interval,
            "session": checked.session.to_string(),
            "rows": checked.rows,
            "unfinished": checked.unfinished_rows,
            "candles": candles.map_or(0, |candles| candles.candles().len()),
            "start": candles.map(CandleSeries::start),
            "end": candles.map(CandleSeries::end),
            "missing": checked.missing,
            "coverage": checked.coverage(),
            "longer": self.longer.as_ref().map(ResampledCounts::to_json),
            "problems": checked.findings.total(),
            "counts": counts.collect::<Map<String, Value>>(),
            "findings": findings.collect::<Vec<_>>(),
            "fixed": repaired.as_ref().map(RepairedCopy::to_json),
            "left": self.remaining_problems(),
        })
    }
}

impl RepairedCopy {
    fn to_json(&self) -> Value {
        json!({
            "removed": self.removed,
            "replaced": self.replaced,
            "sorted": self.sorted,
            "file": self.file,
            "version": self.version,
        })
    }

    fn describe_changes(&self) -> String {
        format!("{} removed, {} replaced with their latest value", self.removed, self.replaced)
    }

    fn text(&self) -> String {
        let sorted = if self.sorted { ", sorted" } else { "" };
        let done = format!("{}{sorted}", self.describe_changes());
        match (&self.file, self.version) {
            (Some(path), _) => format!("{done}; written to {}", path.display()),
            (None, Some(number)) => format!("{done}; stored as version {number} of the series"),
            (None, None) => "nothing to repair".to_owned(),
        }
    }
}

fn describe_finding_counts(checked: &CheckedSeries) -> String {
    let counts = checked.findings.counts().iter();
    let counts: Vec<String> = counts.map(|(kind, count)| format!("{count} {kind}")).collect();
    if counts.is_empty() { "no problems".to_owned() } else { counts.join(", ") }
}

fn describe_place(finding: &Finding) -> String {
    let start = finding.start.map(format_utc);
    match (finding.row, start) {
        (Some(row), Some(start)) => format!("{row}: {start}"),
        (Some(row), None) => row.to_string(),
        (None, Some(start)) if finding.count == 1 => start,
        (None, Some(start)) => format!("{start} to {}", finding.end.map(format_utc).unwrap_or_default()),
        (None, None) => String::new(),
    }
}

pub fn coverage_table(all: &[CheckResult]) -> String {
    let mut table = table(["symbol", "interval", "from", "to", "candles", "missing", "coverage", "problems"]);
    for result in all {
        let again = result.repaired.as_ref().and_then(|repaired| repaired.again.as_ref());
        let checked = again.unwrap_or(&result.checked);
        let candles = checked.candles.as_ref();
        let at = |moment: fn(&CandleSeries) -> candlewick_sdk::Millis| {
            candles.map(|candles| format_utc(moment(candles))).unwrap_or_default()
        };
        table.add_row([
            checked.series.symbol.to_string(),
            checked.series.interval.to_string(),
            at(CandleSeries::start),
            at(CandleSeries::end),
            format_number(candles.map_or(0, |candles| candles.candles().len())),
            format_number(checked.missing),
            format!("{:.3} %", checked.coverage() * 100.0),
            format_number(result.remaining_problems()),
        ]);
    }
    format!("\n{table}")
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckTarget {
    Stored(Series),
    File(PathBuf, Option<Series>),
}

impl CheckTarget {
    pub fn parse_all(names: &[String], catalog: &Catalog) -> Result<Vec<Self>> {
        if names.is_empty() {
            return Ok(catalog.series()?.into_iter().map(Self::Stored).collect());
        }
        let target =
            |name: &String| suggest_catalog_series(name, catalog).map_or_else(|| Ok(Self::parse(name)), Err);
        names.iter().map(target).collect()
    }

    fn parse(text: &str) -> Self {
        match text.parse() {
            Ok(DataName::Stored(series)) => Self::Stored(series),
            // Only SYMBOL@INTERVAL=PATH names a series. For a plain path, the series is detected from the file.
            Ok(DataName::File(source)) if source.path != Path::new(text) => {
                Self::File(source.path, Some(source.series))
            }
            Ok(DataName::File(_)) | Err(_) => Self::File(PathBuf::from(text), None),
        }
    }

    pub fn check(
        &self,
        settings: &CheckSettings,
        reading: &ImportSettings,
        store: &CandleStore,
        progress: &dyn Progress,
    ) -> Result<CheckedSeries> {
        let work = format!("Checking {self}");
        match self {
            Self::Stored(series) => {
                let _spinner = progress.spinner(&work);
                let candles = store.catalog.read(*series)?.into_candles();
                Ok(check_series(&candles, &store.catalog.revisions(*series)?, settings))
            }
            Self::File(path, named) => {
                let mut reading = reading.clone();
                if let Some(series) = named {
                    reading.symbol.get_or_insert(series.symbol);
                    reading.interval.get_or_insert(series.interval);
                }
                let mut bar = progress.bar(&work);
                let mut watch = |at: candlewick_history::Progress| bar.update(at.read_bytes, at.total_bytes);
                let path = storage::local_path(path, &store.object_folder)?;
                Ok(check_file(&path, &reading, settings, &mut watch)?)
            }
        }
    }
}

impl fmt::Display for CheckTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored(series) => write!(f, "{}@{}", series.symbol, series.interval),
            Self::File(path, _) => path.display().fmt(f),
        }
    }
}
