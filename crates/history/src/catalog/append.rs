//! Adding candles to the catalog. The manifest, which makes new files visible, is written last.

use super::Catalog;
use super::folder::{SeriesFolder, WriteLock};
use super::manifest::{EmptyHours, Manifest, Origin, Revision, Version};
use crate::HistoryError;
use crate::disk::create_folder;
use crate::hash::to_blocks;
use candlewick_sdk::{Candle, CandleSeries, Millis, Series};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppendCounts {
    pub new_candles: u64,
    /// Number of candles that were not added, because they were already stored or a repair had removed them.
    pub skipped: u64,
    /// Number of candles that differ from the stored candles and were added as revisions.
    pub revised: u64,
    /// Number of candles that had not closed when they were fetched. Such candles are not stored.
    pub forming: u64,
}

impl Catalog {
    /// Adds candles, in any order, to the current version of a series. The change is atomic and durable.
    /// If a different candle is already stored for a time, the new candle is stored as a revision.
    pub fn append(
        &self,
        series: Series,
        candles: &[Candle],
        origin: &Origin,
    ) -> Result<AppendCounts, HistoryError> {
        check_alignment(series, candles)?;
        let closed = sorted_closed_candles(series, candles, origin.fetched_at);
        let forming = (candles.len() - closed.len()) as u64;
        if closed.is_empty() {
            return Ok(AppendCounts { forming, ..AppendCounts::default() });
        }
        let (folder, _lock) = self.open_for_writing(series)?;
        let appended = self.run_or_clean_up(&folder, || self.append_closed(&folder, &closed, origin))?;
        Ok(AppendCounts { forming, ..appended })
    }

    fn append_closed(
        &self,
        folder: &SeriesFolder,
        closed: &[Candle],
        origin: &Origin,
    ) -> Result<AppendCounts, HistoryError> {
        let series = folder.series;
        let mut manifest = folder.manifest_or_new()?;
        let mut revisions = folder.revisions(&manifest)?;
        let mut known = KnownCandles::new(&revisions);
        let repaired = KnownCandles::new(&folder.repaired_candles(&manifest)?);
        let version = manifest.current_version().cloned();
        let version = version.unwrap_or_else(|| Version::new(series, 1, "as it came", Vec::new()));
        let mut appended = AppendCounts::default();
        let mut segments = version.segments;
        for (block, incoming) in to_blocks(series.interval, closed) {
            let place = segments.iter().position(|segment| block.range.contains(&segment.start));
            let stored = place.map(|at| folder.read_segment(&segments[at])).transpose()?.unwrap_or_default();
            let merged = merge(stored, incoming, origin.fetched_at, (&mut known, &repaired));
            appended.new_candles += merged.new;
            appended.skipped += merged.same;
            appended.revised += merged.revised.len() as u64;
            revisions.extend(merged.revised);
            if merged.new > 0 {
                let segment = folder.write_segment(&*self.disk, &block.name, &merged.candles)?;
                let after = segments.partition_point(|other| other.start < block.range.start);
                match place {
                    Some(place) => segments[place] = segment,
                    None => segments.insert(after, segment),
                }
            }
        }
        if appended.revised > 0 {
            manifest.revisions = Some(folder.write_revisions(&*self.disk, "revisions", &mut revisions)?);
        }
        manifest.set_current(Version::new(series, version.number, &version.note, segments));
        manifest.record_origin(origin, appended.new_candles, appended.revised);
        self.commit(folder, &manifest)?;
        Ok(appended)
    }

    /// Stores the candles as a new version, makes it the current version, and returns its number.
    pub fn add_version(&self, new: &CandleSeries, note: &str, origin: &Origin) -> Result<u32, HistoryError> {
        let (folder, _lock) = self.open_for_writing(new.series())?;
        let mut manifest = folder.manifest_or_new()?;
        manifest.repaired = None;
        self.run_or_clean_up(&folder, || self.write_version(&folder, manifest, new, (note, origin)))
    }

    /// Stores repaired candles as a new version. Later appends do not restore candles that the repair removed.
    pub fn add_repair(&self, fixed: &CandleSeries, note: &str, origin: &Origin) -> Result<u32, HistoryError> {
        let (folder, _lock) = self.open_for_writing(fixed.series())?;
        let mut manifest = folder.manifest_or_new()?;
        let before =
            manifest.current_version().map(|version| folder.candles(&*self.disk, version)).transpose()?;
        let mut repaired = folder.repaired_candles(&manifest)?;
        let known = KnownCandles::new(&repaired);
        let after = fixed.candles();
        let is_out = |candle: &&Candle| {
            let place = after.binary_search_by_key(&candle.time(), Candle::time);
            !place.is_ok_and(|place| after[place] == **candle) && !known.contains(candle)
        };
        let before = before.iter().flat_map(|before| before.candles().candles());
        let seen = origin.fetched_at;
        repaired.extend(before.filter(is_out).map(|candle| Revision { seen_at: seen, candle: *candle }));
        self.run_or_clean_up(&folder, || {
            if !repaired.is_empty() {
                manifest.repaired = Some(folder.write_revisions(&*self.disk, "repaired", &mut repaired)?);
            }
            self.write_version(&folder, manifest, fixed, (note, origin))
        })
    }

    /// Applies `change` to a series. On failure, deletes the files that `change` created.
    fn run_or_clean_up<T>(
        &self,
        folder: &SeriesFolder,
        change: impl FnOnce() -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        let changed = change();
        if changed.is_err()
            && let Ok(manifest) = folder.manifest_or_new()
        {
            folder.remove_unlisted_files(&*self.disk, &manifest);
        }
        changed
    }

    fn write_version(
        &self,
        folder: &SeriesFolder,
        mut manifest: Manifest,
        candles: &CandleSeries,
        (note, origin): (&str, &Origin),
    ) -> Result<u32, HistoryError> {
        let series = candles.series();
        let number = manifest.versions.iter().map(|version| version.number).max().unwrap_or(0) + 1;
        let mut segments = Vec::new();
        for (block, inside) in to_blocks(series.interval, candles.candles()) {
            segments.push(folder.write_segment(&*self.disk, &block.name, inside)?);
        }
        manifest.set_current(Version::new(series, number, note, segments));
        manifest.record_origin(origin, 0, 0);
        self.commit(folder, &manifest)?;
        Ok(number)
    }

    /// Returns the candles that differ from an earlier candle of the same time, sorted by time.
    pub fn revisions(&self, series: Series) -> Result<Vec<Revision>, HistoryError> {
        self.read_consistently(series, SeriesFolder::revisions).map(Option::unwrap_or_default)
    }

    /// Returns the candles that were removed or replaced by the repairs up to the current version, sorted by time.
    pub fn repaired_candles(&self, series: Series) -> Result<Vec<Revision>, HistoryError> {
        self.read_consistently(series, SeriesFolder::repaired_candles).map(Option::unwrap_or_default)
    }

    pub fn record_empty_hours(
        &self,
        series: Series,
        source: &str,
        stretches: &[Range<Millis>],
    ) -> Result<(), HistoryError> {
        let (folder, _lock) = self.open_for_writing(series)?;
        let Some(mut manifest) = folder.manifest()? else { return Ok(()) };
        let known = manifest.empty_hours.len();
        for stretch in stretches {
            if !manifest.is_known_empty(source, stretch) {
                let Range { start, end } = *stretch;
                manifest.empty_hours.push(EmptyHours { source: source.to_owned(), start, end });
            }
        }
        if manifest.empty_hours.len() > known { self.commit(&folder, &manifest) } else { Ok(()) }
    }

    fn open_for_writing(&self, series: Series) -> Result<(SeriesFolder, WriteLock), HistoryError> {
        let folder = self.series_folder(series);
        create_folder(&*self.disk, &folder.path).map_err(HistoryError::io(&folder.path, "make"))?;
        let lock = WriteLock::acquire(&folder.path)?;
        Ok((folder, lock))
    }

    fn commit(&self, folder: &SeriesFolder, manifest: &Manifest) -> Result<(), HistoryError> {
        folder.write_manifest(&*self.disk, manifest)?;
        folder.remove_unlisted_files(&*self.disk, manifest);
        Ok(())
    }
}

fn sorted_closed_candles(series: Series, candles: &[Candle], now: Millis) -> Cow<'_, [Candle]> {
    let is_closed = |candle: &Candle| candle.close_time(series.interval) <= now;
    if candles.is_sorted_by_key(Candle::time) {
        return Cow::Borrowed(&candles[..candles.partition_point(is_closed)]);
    }
    let mut closed: Vec<Candle> = candles.iter().filter(|candle| is_closed(candle)).copied().collect();
    // Stable sort: candles with the same time stay in order of arrival.
    closed.sort_by_key(Candle::time);
    Cow::Owned(closed)
}

fn check_alignment(series: Series, candles: &[Candle]) -> Result<(), HistoryError> {
    let length = series.interval.length();
    match candles.iter().find(|candle| !candle.time().is_aligned_to(length)) {
        None => Ok(()),
        Some(candle) => {
            let problem =
                format!("the candle at {} is not aligned to the interval of {series}", candle.time());
            Err(HistoryError::InvalidSetting { setting: "interval", problem })
        }
    }
}

#[derive(Debug, Default, PartialEq)]
struct MergeResult {
    candles: Vec<Candle>,
    new: u64,
    same: u64,
    revised: Vec<Revision>,
}

#[derive(Debug, Default)]
struct KnownCandles(HashMap<Millis, Vec<Candle>>);

impl KnownCandles {
    fn new(revisions: &[Revision]) -> Self {
        let mut known = Self::default();
        for revision in revisions {
            known.insert(&revision.candle);
        }
        known
    }

    fn insert(&mut self, candle: &Candle) {
        self.0.entry(candle.time()).or_default().push(*candle);
    }

    fn contains(&self, candle: &Candle) -> bool {
        self.0.get(&candle.time()).is_some_and(|values| values.contains(candle))
    }
}

/// Merges `incoming` into `stored`, and skips candles in `repaired`. `incoming` is sorted by time, then by arrival.
fn merge(
    stored: Vec<Candle>,
    incoming: &[Candle],
    seen: Millis,
    (known, repaired): (&mut KnownCandles, &KnownCandles),
) -> MergeResult {
    let mut merged =
        MergeResult { candles: Vec::with_capacity(stored.len() + incoming.len()), ..MergeResult::default() };
    let mut stored = stored.into_iter().peekable();
    for candle in incoming {
        while let Some(earlier) = stored.next_if(|earlier| earlier.time() <= candle.time()) {
            merged.candles.push(earlier);
        }
        match merged.candles.last().filter(|last| last.time() == candle.time()) {
            _ if repaired.contains(candle) => merged.same += 1,
            None => {
                merged.candles.push(*candle);
                merged.new += 1;
            }
            Some(first_seen) if first_seen == candle || known.contains(candle) => merged.same += 1,
            Some(_) => {
                known.insert(candle);
                merged.revised.push(Revision { seen_at: seen, candle: *candle });
            }
        }
    }
    merged.candles.extend(stored);
    merged
}
