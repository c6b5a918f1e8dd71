//! The catalog, a folder of candles with one subfolder per series.
//!
//! ```text
//! data/BTCUSDT/1m/manifest.json                     versions, provenance and active files
//! data/BTCUSDT/1m/2026-01-<hash>.parquet            candles of one calendar block, as first stored
//! data/BTCUSDT/1m/revisions-<hash>.parquet          later candles for the same times
//! data/BTCUSDT/1m/repaired-<hash>.parquet           candles that a repair removed or replaced
//! data/BTCUSDT/1m/<hash>.candles                    cache; may be deleted at any time
//! ```
//!
//! Candle files are never modified. An append writes new files for the affected blocks of about ten thousand
//! candles, and then the manifest that activates them. Appends are therefore atomic, both for readers and
//! after a crash. A lock ensures that each series has only one writer at a time.

mod append;
mod folder;
mod manifest;
#[cfg(test)]
mod tests;

pub use append::AppendCounts;
pub use manifest::{EmptyHours, Manifest, Origin, Provenance, Revision, Segment, Version};

#[cfg(feature = "import")]
use crate::check::{MarketHours, count_missing_candles};
use crate::disk::{Disk, SystemDisk};
use crate::{HashedSeries, HistoryError};
use candlewick_sdk::Series;
use folder::{SeriesFolder, folder_name, is_not_found, parse_folder_name};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs};

/// A folder of candles by symbol and interval. Several processes may use the folder concurrently.
#[derive(Clone)]
pub struct Catalog {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
}

impl Catalog {
    /// Creates a handle without disk access. If the folder does not exist, the catalog is empty.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), disk: Arc::new(SystemDisk) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lists all series, sorted by symbol and interval. Series with a broken manifest are included.
    pub fn series(&self) -> Result<Vec<Series>, HistoryError> {
        let mut found = Vec::new();
        for (symbol, folder) in folders_in(&self.folder)? {
            let Some(symbol) = parse_folder_name(&symbol) else { continue };
            for (interval, _) in folders_in(&folder)? {
                let Ok(interval) = interval.parse() else { continue };
                let series = Series { symbol, interval };
                if self.series_folder(series).has_manifest() {
                    found.push(series);
                }
            }
        }
        found.sort();
        Ok(found)
    }

    pub fn manifest(&self, series: Series) -> Result<Option<Manifest>, HistoryError> {
        self.series_folder(series).manifest()
    }

    fn series_folder(&self, series: Series) -> SeriesFolder {
        let path = self.folder.join(folder_name(series.symbol)).join(series.interval.to_string());
        SeriesFolder { series, path }
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Catalog({})", self.folder.display())
    }
}

fn folders_in(folder: &Path) -> Result<Vec<(String, PathBuf)>, HistoryError> {
    let failed = HistoryError::io(folder, "list");
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.map_err(&failed)?.path();
        if path.is_dir()
            && let Some(name) = path.file_name().and_then(|name| name.to_str())
        {
            folders.push((name.to_owned(), path.clone()));
        }
    }
    Ok(folders)
}

const MAX_READ_ATTEMPTS: usize = 20;

impl Catalog {
    pub fn read(&self, series: Series) -> Result<HashedSeries, HistoryError> {
        self.read_selected_version(series, Manifest::current_version, || series.to_string())
    }

    pub fn read_version(&self, series: Series, number: u32) -> Result<HashedSeries, HistoryError> {
        let what = || format!("{series} in version {number}");
        self.read_selected_version(series, |manifest| manifest.version(number), what)
    }

    fn read_selected_version(
        &self,
        series: Series,
        select: impl Fn(&Manifest) -> Option<&Version>,
        what: impl Fn() -> String,
    ) -> Result<HashedSeries, HistoryError> {
        let read = self.read_consistently(series, |folder, manifest| {
            select(manifest).map(|version| folder.candles(&*self.disk, version)).transpose()
        })?;
        let absent = || HistoryError::NotInCatalog { folder: self.folder.clone(), what: what() };
        read.flatten().ok_or_else(absent)
    }

    /// Reads the files that one manifest of a series lists. Starts over if a writer replaces files in the meantime.
    fn read_consistently<T>(
        &self,
        series: Series,
        read: impl Fn(&SeriesFolder, &Manifest) -> Result<T, HistoryError>,
    ) -> Result<Option<T>, HistoryError> {
        let folder = self.series_folder(series);
        let mut tries = 0;
        loop {
            let Some(manifest) = folder.manifest()? else { return Ok(None) };
            tries += 1;
            match read(&folder, &manifest) {
                Err(error) if is_not_found(&error) && tries < MAX_READ_ATTEMPTS => {}
                answer => return answer.map(Some),
            }
        }
    }
}

#[cfg(feature = "import")]
impl Catalog {
    /// Counts missing candles as [`check_series`](crate::check_series) does. Returns 0 for an unknown series.
    pub fn count_missing_candles(&self, series: Series) -> Result<u64, HistoryError> {
        let missing = self.read_consistently(series, |folder, manifest| {
            let Some(version) = manifest.current_version() else { return Ok(0) };
            let slots = (version.end() - version.start()).get() / series.interval.length().get();
            let absent = u64::try_from(slots).unwrap_or(0).saturating_sub(version.candle_count());
            if absent == 0 || MarketHours::from_symbol(series.symbol) == MarketHours::Always {
                return Ok(absent);
            }
            folder.candles(&*self.disk, version).map(|candles| count_missing_candles(candles.candles()))
        })?;
        Ok(missing.unwrap_or(0))
    }
}
