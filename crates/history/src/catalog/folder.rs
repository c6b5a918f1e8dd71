//! Folder of one series: file names, manifest, candle files and write lock.

use super::manifest::{FORMAT, Manifest, Revision, RevisionFile, Segment, Version};
use crate::cache::{self, CacheKey};
use crate::disk::{Disk, PARTIAL_SUFFIX, replace};
use crate::hash::block_hash;
use crate::parquet::{Table, read_table, to_parquet};
use crate::{HashedSeries, HistoryError};
use candlewick_sdk::{Candle, CandleSeries, Millis, Series, Symbol};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

pub(super) struct SeriesFolder {
    pub(super) series: Series,
    pub(super) path: PathBuf,
}

const PARQUET_SUFFIX: &str = ".parquet";
const MANIFEST_FILE: &str = "manifest.json";
const SEEN_COLUMN: &str = "seen";

impl SeriesFolder {
    pub(super) fn has_manifest(&self) -> bool {
        self.path.join(MANIFEST_FILE).exists()
    }

    pub(super) fn manifest(&self) -> Result<Option<Manifest>, HistoryError> {
        let path = self.path.join(MANIFEST_FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(HistoryError::io(&path, "read")(error)),
        };
        let manifest = serde_json::from_str::<Manifest>(&text).map_err(|error| error.to_string());
        let problem = match manifest {
            Ok(manifest) if manifest.format != FORMAT => {
                format!("its format is {}, but this version of Candlewick needs {FORMAT}", manifest.format)
            }
            Ok(manifest) if manifest.series() != self.series => {
                format!("the manifest describes {}, but the folder is for {}", manifest.series(), self.series)
            }
            Ok(manifest) => match manifest.check() {
                Ok(()) => return Ok(Some(manifest)),
                Err(problem) => problem,
            },
            Err(problem) => problem,
        };
        let problem = format!(
            "the manifest is invalid: {problem}; restore the file, or delete the series' folder and fetch or import \
             the series again"
        );
        Err(HistoryError::InvalidFile { path, problem })
    }

    pub(super) fn manifest_or_new(&self) -> Result<Manifest, HistoryError> {
        Ok(self.manifest()?.unwrap_or_else(|| Manifest::new(self.series)))
    }

    pub(super) fn write_manifest(&self, disk: &dyn Disk, manifest: &Manifest) -> Result<(), HistoryError> {
        let text = serde_json::to_string_pretty(manifest).expect("a manifest serializes to JSON") + "\n";
        self.write_file(disk, MANIFEST_FILE, &[text.as_bytes()])
    }

    fn write_file(&self, disk: &dyn Disk, name: &str, parts: &[&[u8]]) -> Result<(), HistoryError> {
        let path = self.path.join(name);
        replace(disk, &path, parts).map_err(HistoryError::io(&path, "write"))
    }

    pub(super) fn read_segment(&self, segment: &Segment) -> Result<Vec<Candle>, HistoryError> {
        let candles = self.open_table(&segment.file, &[])?.candles;
        if block_hash(&candles).to_hex().as_str() != segment.hash {
            let problem = "the candles do not match the manifest; restore the file, or delete the series' folder and \
                           fetch or import the series again";
            return Err(HistoryError::InvalidFile {
                path: self.path.join(&segment.file),
                problem: problem.to_owned(),
            });
        }
        Ok(candles)
    }

    fn open_table(&self, name: &str, extra: &[&str]) -> Result<Table, HistoryError> {
        let path = self.path.join(name);
        let file = File::open(&path).map_err(HistoryError::io(&path, "open"))?;
        let table = read_table(file, self.series.interval, extra);
        table.map_err(|problem| HistoryError::InvalidFile { path, problem })
    }

    pub(super) fn candles(&self, disk: &dyn Disk, version: &Version) -> Result<HashedSeries, HistoryError> {
        let (cache, key) = (self.path.join(cache_name(version)), CacheKey::Hash(version.hash()));
        if let Some(cached) = cache::open(&cache, self.series, key) {
            return Ok(cached);
        }
        let read = self.read_segments(version)?;
        // Errors are ignored, because reading without a cache is only slower.
        let _ = cache::write(disk, &cache, &read, key);
        Ok(read)
    }

    fn read_segments(&self, version: &Version) -> Result<HashedSeries, HistoryError> {
        let mut candles: Vec<Candle> = Vec::new();
        // A damaged manifest may contain a huge count, so a failed memory reservation is ignored.
        let _ = candles.try_reserve_exact(usize::try_from(version.candle_count()).unwrap_or(0));
        for segment in &version.segments {
            candles.extend(self.read_segment(segment)?);
        }
        let candles = CandleSeries::new(self.series, candles).map_err(|error| {
            let problem = format!("the candle files overlap or are out of order: {error}");
            HistoryError::InvalidFile { path: self.path.clone(), problem }
        })?;
        Ok(HashedSeries::with_hash(candles, version.hash()))
    }

    pub(super) fn write_segment(
        &self,
        disk: &dyn Disk,
        block: &str,
        candles: &[Candle],
    ) -> Result<Segment, HistoryError> {
        let hash = block_hash(candles).to_hex().to_string();
        let file = file_name(block, &hash);
        self.write_file(disk, &file, &[&to_parquet(candles, &[])])?;
        let (first, last) = (candles.first(), candles.last());
        Ok(Segment {
            file,
            start: first.map_or(Millis::ZERO, Candle::time),
            end: last.map_or(Millis::ZERO, |last| last.close_time(self.series.interval)),
            candles: candles.len() as u64,
            hash,
        })
    }

    pub(super) fn revisions(&self, manifest: &Manifest) -> Result<Vec<Revision>, HistoryError> {
        self.read_revisions(manifest.revisions.as_ref())
    }

    pub(super) fn repaired_candles(&self, manifest: &Manifest) -> Result<Vec<Revision>, HistoryError> {
        self.read_revisions(manifest.repaired.as_ref())
    }

    fn read_revisions(&self, named: Option<&RevisionFile>) -> Result<Vec<Revision>, HistoryError> {
        let Some(named) = named else { return Ok(Vec::new()) };
        let table = self.open_table(&named.file, &[SEEN_COLUMN])?;
        let seen = table.extra_columns.into_iter().flatten().map(Millis::new);
        Ok(table
            .candles
            .into_iter()
            .zip(seen)
            .map(|(candle, seen)| Revision { seen_at: seen, candle })
            .collect())
    }

    pub(super) fn write_revisions(
        &self,
        disk: &dyn Disk,
        prefix: &str,
        revisions: &mut [Revision],
    ) -> Result<RevisionFile, HistoryError> {
        revisions.sort_by_key(|revision| revision.candle.time());
        let candles: Vec<Candle> = revisions.iter().map(|revision| revision.candle).collect();
        let seen: Vec<i64> = revisions.iter().map(|revision| revision.seen_at.get()).collect();
        let bytes = to_parquet(&candles, &[(SEEN_COLUMN, &seen)]);
        let file = file_name(prefix, blake3::hash(&bytes).to_hex().as_str());
        self.write_file(disk, &file, &[&bytes])?;
        Ok(RevisionFile { file, count: candles.len() as u64 })
    }

    /// Removes files that the manifest does not list. If a removal fails, the next call tries again.
    pub(super) fn remove_unlisted_files(&self, disk: &dyn Disk, manifest: &Manifest) {
        let named: HashSet<String> =
            manifest.files().chain(manifest.versions.iter().map(cache_name)).collect();
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let is_ours =
                [PARQUET_SUFFIX, cache::CACHE_SUFFIX, PARTIAL_SUFFIX].iter().any(|end| name.ends_with(end));
            if is_ours && !named.contains(name) {
                let _ = disk.remove(&path);
            }
        }
    }
}

fn cache_name(version: &Version) -> String {
    format!("{}{}", version.data_hash, cache::CACHE_SUFFIX)
}

/// Returns a file name that contains the content hash, so that different contents get different names.
fn file_name(prefix: &str, hash: &str) -> String {
    format!("{prefix}-{}{PARQUET_SUFFIX}", &hash[..hash.len().min(32)])
}

/// Percent-encodes a symbol as a folder name. Letters, digits, `-`, `_` and inner dots are unchanged.
pub(super) fn folder_name(symbol: Symbol) -> String {
    let mut name = String::new();
    for (index, byte) in symbol.as_str().bytes().enumerate() {
        let is_plain =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || (byte == b'.' && index > 0);
        if is_plain {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02X}");
        }
    }
    name
}

pub(super) fn parse_folder_name(name: &str) -> Option<Symbol> {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
    let symbol = Symbol::new(std::str::from_utf8(&bytes).ok()?).ok()?;
    (folder_name(symbol) == name).then_some(symbol)
}

/// Returns whether `error` means that a file no longer exists, for example because a writer has replaced it.
pub(super) fn is_not_found(error: &HistoryError) -> bool {
    matches!(error, HistoryError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

const LOCK_RETRY_DELAY: Duration = Duration::from_millis(5);
const LOCK_TIMEOUT_SECONDS: u64 = 30;

/// Lock for exclusive write access to a series. It is released on drop or when the process ends.
pub(super) struct WriteLock {
    _file: File,
}

impl WriteLock {
    pub(super) fn acquire(folder: &Path) -> Result<Self, HistoryError> {
        let path = folder.join(".lock");
        let failed = HistoryError::io(&path, "lock");
        let file = File::options().create(true).append(true).open(&path).map_err(&failed)?;
        let tries = Duration::from_secs(LOCK_TIMEOUT_SECONDS).as_millis() / LOCK_RETRY_DELAY.as_millis();
        for _ in 0..tries {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => sleep(LOCK_RETRY_DELAY),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        Err(HistoryError::SeriesLocked { folder: folder.to_owned(), seconds: LOCK_TIMEOUT_SECONDS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::manifest::is_plain_name;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn symbols_survive_the_folder_round_trip(text in "\\PC{1,8}") {
            if let Ok(symbol) = Symbol::new(&text) {
                let name = folder_name(symbol);
                prop_assert_eq!(parse_folder_name(&name), Some(symbol));
                prop_assert!(is_plain_name(&name));
            }
        }

        #[test]
        fn ignores_folders_that_are_not_symbols(name in "[A-Z%0-9.]{1,8}") {
            if let Some(symbol) = parse_folder_name(&name) {
                prop_assert_eq!(folder_name(symbol), name);
            }
        }
    }
}
