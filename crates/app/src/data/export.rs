//! Writes candle files, exports series from the catalog, and lists the catalog.

use crate::candles::{ALL_TIME, CandleStore, DataName, trim_to_range};
use crate::error::{AppError, Result};
use crate::progress::Progress;
use crate::storage::{self, is_storage_url};
use candlewick_history::{
    CandleFormat, Catalog, HashedSeries, Manifest, ResampledSeries, Version, count_resampled_candles,
    resample_with_coverage,
};
use candlewick_records::{count_text, format_number, format_utc, table};
use candlewick_sdk::{CandleSeries, Interval, Millis, ResampleCounts, Series};
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct ExportOptions {
    pub name: DataName,
    pub version: Option<u32>,
    pub from: Option<Millis>,
    pub to: Option<Millis>,
}

pub struct ExportedSeries {
    file: PathBuf,
    series: HashedSeries,
    resampled_from: Option<(Series, ResampledCounts)>,
}

pub fn export(
    terms: &ExportOptions,
    store: &CandleStore,
    out: &OutputFile,
    progress: &dyn Progress,
) -> Result<ExportedSeries> {
    let (interval, share) = (terms.name.series().interval, store.longer_share_percent);
    let mut resampled_from = None;
    if let Some(shorter) = terms.name.resampling_source(&store.catalog)? {
        let ResampledSeries { counts, .. } =
            resample_with_coverage(store.catalog.read(shorter)?.candles(), interval, share)?;
        let counts = vec![(interval, counts)];
        resampled_from = Some((shorter, ResampledCounts { share_percent: share, counts }));
    }
    let _spinner = progress.spinner(&format!("Writing {}", out.path().display()));
    let whole = match (&terms.name, terms.version) {
        (DataName::Stored(series), Some(number)) => store.catalog.read_version(*series, number)?,
        (DataName::File(_), Some(_)) => return Err(AppError::invalid("--version: files have no versions")),
        (_, None) => terms.name.read(store, &mut |_| {})?,
    };
    let range = terms.from.unwrap_or(ALL_TIME.start)..terms.to.unwrap_or(ALL_TIME.end);
    if range.is_empty() {
        return Err(AppError::invalid("--from must be before --to"));
    }
    let series = trim_to_range(whole, &range, &terms.name.to_string())?;
    out.write(series.candles())?;
    Ok(ExportedSeries { file: out.path().to_owned(), series, resampled_from })
}

impl ExportedSeries {
    pub fn to_json(&self) -> Value {
        let candles = self.series.candles();
        json!({
            "file": self.file,
            "symbol": candles.symbol(),
            "interval": candles.interval(),
            "candles": candles.candles().len(),
            "start": candles.start(),
            "end": candles.end(),
            "data_hash": self.series.hash().to_hex().to_string(),
            "longer": self.resampled_from.as_ref().map(|(_, longer)| longer.to_json()),
        })
    }
}

impl fmt::Display for ExportedSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let candles = self.series.candles();
        let count = count_text(candles.candles().len(), "candle", "candles");
        write!(f, "{}: {count} of {}", self.file.display(), candles.series())?;
        let Some((shorter, longer)) = &self.resampled_from else { return Ok(()) };
        write!(f, ", resampled from {shorter}")?;
        longer.text().map_or(Ok(()), |text| write!(f, "\n  {text}"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExists {
    Kept,
    Replaced,
}

#[derive(Clone, Debug)]
pub struct OutputFile {
    path: PathBuf,
    format: CandleFormat,
}

impl OutputFile {
    pub fn new(path: &Path, existing: IfExists) -> Result<Self> {
        let shown = path.display();
        let Some(format) = CandleFormat::from_path(path) else {
            let problem = format!("--out {shown}: unknown file format");
            return Err(AppError::invalid(problem).with_help("use a name that ends in .csv or .parquet"));
        };
        let is_there = || if is_storage_url(path) { storage::exists(path) } else { Ok(path.exists()) };
        if existing == IfExists::Kept && is_there()? {
            let problem = format!("{shown}: the file already exists");
            return Err(
                AppError::invalid(problem).with_help("--force replaces it; --out chooses another name")
            );
        }
        Ok(Self { path: path.to_owned(), format })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn write(&self, candles: &CandleSeries) -> Result<()> {
        if !is_storage_url(&self.path) {
            return Ok(self.format.write_file(candles, &self.path)?);
        }
        let folder = tempfile::tempdir()
            .map_err(|source| AppError::system("cannot create a temporary folder", source))?;
        let file = folder.path().join("candles");
        self.format.write_file(candles, &file)?;
        storage::put_file(&self.path, &file)
    }
}

pub struct CatalogContents {
    folder: PathBuf,
    /// Manifest of each series, with the number of missing candles (`None` if the candles are unreadable).
    entries: Vec<(Manifest, Option<u64>)>,
    pub read_errors: Vec<AppError>,
}

impl CatalogContents {
    pub fn read(catalog: &Catalog) -> Result<Self> {
        let (mut entries, mut unreadable) = (Vec::new(), Vec::new());
        for series in catalog.series()? {
            match catalog.manifest(series) {
                Ok(None) => {}
                Ok(Some(manifest)) => {
                    let missing = catalog.count_missing_candles(series);
                    let missing = missing.map_err(|error| unreadable.push(error.into())).ok();
                    entries.push((manifest, missing));
                }
                Err(error) => unreadable.push(error.into()),
            }
        }
        Ok(Self { folder: catalog.folder().to_owned(), entries, read_errors: unreadable })
    }

    fn current_versions(&self) -> impl Iterator<Item = (&Manifest, &Version, Option<u64>)> {
        self.entries
            .iter()
            .filter_map(|(manifest, missing)| Some((manifest, manifest.current_version()?, *missing)))
    }

    pub fn to_json(&self) -> Value {
        self.current_versions().map(manifest_document).collect()
    }
}

fn manifest_document((manifest, version, missing): (&Manifest, &Version, Option<u64>)) -> Value {
    let versions = manifest.versions.iter().map(|version| {
        json!({ "number": version.number, "note": version.note, "candles": version.candle_count(), "data_hash": version.data_hash })
    });
    json!({
        "symbol": manifest.symbol,
        "interval": manifest.interval,
        "start": version.start(),
        "end": version.end(),
        "candles": version.candle_count(),
        "missing": missing,
        "revised": manifest.revision_count(),
        "data_hash": version.data_hash,
        "version": version.number,
        "versions": versions.collect::<Vec<_>>(),
        "origins": manifest.origins,
    })
}

impl fmt::Display for CatalogContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.entries.is_empty() && self.read_errors.is_empty() {
            return write!(
                f,
                "{}: the catalog is empty; `candlewick data fetch` fills it from the venue, `candlewick data import` from files",
                self.folder.display()
            );
        }
        let mut table =
            table(["symbol", "interval", "from", "to", "candles", "missing", "revised", "source"]);
        for (manifest, version, missing) in self.current_versions() {
            let sources: Vec<&str> = manifest.origins.iter().map(|origin| origin.source.as_str()).collect();
            table.add_row([
                manifest.symbol.to_string(),
                manifest.interval.to_string(),
                format_utc(version.start()),
                format_utc(version.end()),
                format_number(version.candle_count()),
                missing.map_or_else(|| "unknown".to_owned(), format_number),
                format_number(manifest.revision_count()),
                sources.join(", "),
            ]);
        }
        table.fmt(f)
    }
}

#[derive(Clone, Debug)]
pub struct ResampledCounts {
    share_percent: f64,
    counts: Vec<(Interval, ResampleCounts)>,
}

impl ResampledCounts {
    pub fn from_series(series: &CandleSeries, share_percent: f64) -> Self {
        Self { share_percent, counts: count_resampled_candles(series, share_percent) }
    }

    pub(super) fn to_json(&self) -> Value {
        let document = |(interval, counts): &(Interval, ResampleCounts)| {
            let ResampleCounts { built, built_with_gaps: in_parts, unbuilt } = counts;
            json!({ "interval": interval, "built": built, "in_parts": in_parts, "not_built": unbuilt })
        };
        self.counts.iter().map(document).collect()
    }

    pub(super) fn text(&self) -> Option<String> {
        let incomplete = self.counts.iter().filter(|(_, each)| each.built_with_gaps + each.unbuilt > 0);
        let text = |(interval, counts): &(Interval, ResampleCounts)| {
            let ResampleCounts { built, built_with_gaps: in_parts, unbuilt } = counts;
            format!("{interval}: {built} built ({in_parts} with gaps), {unbuilt} not built")
        };
        let texts = incomplete.map(text).collect::<Vec<_>>().join("; ");
        let share = self.share_percent;
        (!texts.is_empty()).then(|| {
            format!("resampled candles (minimum coverage {share} %, see data.longer_share_percent): {texts}")
        })
    }
}
