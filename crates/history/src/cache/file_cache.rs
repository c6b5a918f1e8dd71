//! Cache of the candles that were parsed from CSV and Parquet files.

use super::{CACHE_SUFFIX, CacheKey, open, write};
use crate::disk::{Disk, PARTIAL_SUFFIX, SystemDisk, create_folder};
use crate::{CandleFile, HashedSeries, HistoryError, Progress};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const MAX_ENTRIES: usize = 64;
/// Maximum age of a leftover partial file. Each cache write deletes older ones.
const MAX_PARTIAL_AGE: Duration = Duration::from_hours(1);

/// Folder that caches candles in their in-memory layout. If the folder is read-only, nothing is cached.
#[derive(Clone, Debug)]
pub struct FileCache {
    folder: PathBuf,
}

impl FileCache {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    pub fn read(
        &self,
        source: &CandleFile,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<HashedSeries, HistoryError> {
        let stamp = FileStamp::read(&source.path);
        let copy = self.cache_path(source);
        if let Some(stamp) = stamp
            && modification_time(&copy).is_some_and(|written| stamp.detects_changes_after(written))
            && let Some(series) = open(&copy, source.series, CacheKey::File(stamp.hash))
        {
            return Ok(series);
        }
        let series = HashedSeries::new(source.read(progress)?);
        // If the file changed while it was read, the result is not cached.
        if let Some(stamp) = stamp.filter(|stamp| FileStamp::read(&source.path) == Some(*stamp)) {
            self.store(&copy, &series, stamp);
        }
        Ok(series)
    }

    fn cache_path(&self, source: &CandleFile) -> PathBuf {
        let place = source.path.canonicalize().unwrap_or_else(|_| source.path.clone());
        let mut hasher = blake3::Hasher::new();
        hasher.update(source.series.to_string().as_bytes());
        hasher.update(&[0]);
        hasher.update(place.as_os_str().as_encoded_bytes());
        let name = hasher.finalize().to_hex();
        self.folder.join(format!("{}{CACHE_SUFFIX}", &name[..32]))
    }

    /// Stores a copy of the candles. Errors are ignored, because the cache is optional.
    fn store(&self, copy: &Path, series: &HashedSeries, stamp: FileStamp) {
        let stored = create_folder(&SystemDisk, &self.folder)
            .and_then(|()| write(&SystemDisk, copy, series, CacheKey::File(stamp.hash)));
        if stored.is_ok() {
            self.prune(modification_time(copy).unwrap_or(SystemTime::UNIX_EPOCH));
        }
    }

    fn prune(&self, now: SystemTime) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut copies = Vec::new();
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let (Some(name), Some(written)) = (path.to_str(), modification_time(&path)) else { continue };
            if name.ends_with(CACHE_SUFFIX) {
                copies.push((written, path));
            } else if name.ends_with(PARTIAL_SUFFIX)
                && now.duration_since(written).is_ok_and(|age| age > MAX_PARTIAL_AGE)
            {
                let _ = SystemDisk.remove(&path);
            }
        }
        copies.sort();
        let surplus = copies.len().saturating_sub(MAX_ENTRIES);
        for (_, path) in &copies[..surplus] {
            let _ = SystemDisk.remove(path);
        }
    }
}

fn modification_time(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// Coarsest timestamp resolution of common file systems. Two changes within this time may get equal timestamps.
const MAX_TIMESTAMP_STEP: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    hash: [u8; 32],
    /// Time of the last status change (ctime), which programs cannot set to a chosen value.
    changed: SystemTime,
}

impl FileStamp {
    /// Returns the stamp of a file, or `None` if the file's metadata is not sufficient to detect changes.
    #[cfg(unix)]
    fn read(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let path = path.canonicalize().ok()?;
        let file = path.metadata().ok()?;
        let mut hasher = blake3::Hasher::new();
        for number in [
            file.dev() as i64,
            file.ino() as i64,
            file.size() as i64,
            file.mtime(),
            file.mtime_nsec(),
            file.ctime(),
            file.ctime_nsec(),
        ] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(path.as_os_str().as_encoded_bytes());
        let seconds = Duration::from_secs(u64::try_from(file.ctime()).ok()?);
        let nanoseconds = Duration::from_nanos(u64::try_from(file.ctime_nsec()).ok()?);
        let changed = SystemTime::UNIX_EPOCH.checked_add(seconds)?.checked_add(nanoseconds)?;
        Some(Self { hash: *hasher.finalize().as_bytes(), changed })
    }

    #[cfg(not(unix))]
    fn read(_path: &Path) -> Option<Self> {
        None
    }

    /// Returns whether any change of the file after `written` is certain to change the stamp.
    fn detects_changes_after(&self, written: SystemTime) -> bool {
        written.duration_since(self.changed).is_ok_and(|age| age > MAX_TIMESTAMP_STEP)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};

    const OLD: &str = "time,open,high,low,close,volume\n60000,1,1,1,1,0\n";
    const NEW: &str = "time,open,high,low,close,volume\n60000,2,2,2,2,0\n";

    struct Fixture {
        _folder: tempfile::TempDir,
        source: CandleFile,
        cache: FileCache,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("BTCUSDT_1m.csv");
            fs::write(&path, OLD).unwrap();
            let source = CandleFile::from_path(&path).unwrap();
            let cache = FileCache::new(folder.path().join("cache"));
            Self { _folder: folder, source, cache }
        }

        fn read(&self) -> (f64, bool) {
            let mut is_read = false;
            let series = self.cache.read(&self.source, &mut |_| is_read = true).unwrap();
            assert_eq!(series.hash(), HashedSeries::new(series.candles().clone()).hash());
            (series.candles().candles()[0].close(), is_read)
        }

        fn age(&self, by: Duration) {
            use std::os::unix::fs::MetadataExt;
            let changed = self.source.path.metadata().unwrap();
            let changed =
                SystemTime::UNIX_EPOCH + Duration::new(changed.ctime() as u64, changed.ctime_nsec() as u32);
            let times = FileTimes::new().set_modified(changed + by);
            let copy = File::options().write(true).open(self.cache.cache_path(&self.source)).unwrap();
            copy.set_times(times).unwrap();
        }
    }

    const LONG_AFTER: Duration = Duration::from_secs(10);

    #[test]
    fn reads_file_once_unless_copied_within_one_clock_step_of_its_change() {
        let fixture = Fixture::new();
        assert_eq!(fixture.read(), (1.0, true));
        fixture.age(Duration::from_secs(1));
        assert_eq!(fixture.read(), (1.0, true));
        fixture.age(LONG_AFTER);
        assert_eq!(fixture.read(), (1.0, false));
        assert_eq!(fixture.read(), (1.0, false));
    }

    #[test]
    fn rereads_changed_file_even_with_the_same_stamp() {
        let fixture = Fixture::new();
        fixture.read();
        let path = &fixture.source.path;
        let modified = path.metadata().unwrap().modified().unwrap();
        let before = FileStamp::read(path);
        // Retries until the file system clock has advanced.
        while FileStamp::read(path) == before {
            fs::write(path, NEW).unwrap();
            let times = FileTimes::new().set_modified(modified);
            File::options().write(true).open(path).unwrap().set_times(times).unwrap();
        }
        fixture.age(LONG_AFTER);
        assert_eq!(fixture.read(), (2.0, true), "same size, same time of modification, same inode");
        fixture.age(LONG_AFTER);
        let other = path.with_extension("new");
        fs::write(&other, OLD).unwrap();
        fs::rename(&other, path).unwrap();
        fixture.age(LONG_AFTER);
        assert_eq!(fixture.read(), (1.0, true), "another file took its place");
    }

    #[test]
    fn reads_files_without_a_writable_folder() {
        let fixture = Fixture::new();
        let cache = FileCache::new(fixture.source.path.join("not-a-folder"));
        assert_eq!(cache.read(&fixture.source, &mut |_| {}).unwrap().candles().candles().len(), 1);
    }

    #[test]
    fn limits_the_number_of_copies() {
        let fixture = Fixture::new();
        for number in 0..=MAX_ENTRIES {
            let symbol = format!("S{number}").parse().unwrap();
            let series = candlewick_sdk::Series { symbol, ..fixture.source.series };
            fixture.cache.read(&CandleFile { series, ..fixture.source.clone() }, &mut |_| {}).unwrap();
        }
        assert_eq!(fs::read_dir(&fixture.cache.folder).unwrap().count(), MAX_ENTRIES);
    }
}
