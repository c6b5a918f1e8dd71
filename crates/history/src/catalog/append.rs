//! Candles into the catalog: the files first, then the manifest that puts them in force.

use super::Catalog;
use super::folder::SeriesFolder;
use super::lock::WriteLock;
use super::manifest::{Manifest, Origin, Rest, Revision, Version};
use super::merge::{KnownRevisions, merge};
use crate::HistoryError;
use crate::block::blocks;
use crate::disk::make_folder;
use candlewick_sdk::{Candle, CandleSeries, Millis, Series};
use std::ops::Range;

/// What an append found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// Candles that were not there.
    pub new: u64,
    /// Candles that were there already.
    pub same: u64,
    /// Values that differ from those that were there: they are kept beside them.
    pub revised: u64,
    /// Candles that were not closed when they were fetched: they are left out.
    pub forming: u64,
}

impl Catalog {
    /// Adds candles to the current version of a series, in any order, whatever is there already. The value that was
    /// seen first stays the candle of its moment; later ones that differ are kept as revisions.
    ///
    /// When it answers, the candles are durable; when it fails, or the machine does, all of them are there or none.
    ///
    /// # Errors
    /// [`HistoryError::ChangeSetting`] for a candle off the interval's grid, [`HistoryError::AwaitWriter`] when
    /// another program does not stop writing, [`HistoryError::CheckPath`] and [`HistoryError::FixFile`] when the
    /// folder or its files are broken.
    pub fn append(
        &self,
        series: Series,
        candles: &[Candle],
        origin: &Origin,
    ) -> Result<Appended, HistoryError> {
        let mut closed = check_grid(series, candles)?;
        closed.retain(|candle| candle.close_time(series.interval) <= origin.fetched_at);
        let forming = (candles.len() - closed.len()) as u64;
        if closed.is_empty() {
            return Ok(Appended { forming, ..Appended::default() });
        }
        // Stable, so that of two values of one moment the one that came first stays first.
        closed.sort_by_key(Candle::time);
        let (folder, _lock) = self.open_to_write(series)?;
        let mut manifest = folder.manifest()?.unwrap_or_else(|| Manifest::new(series));
        let mut revisions = folder.revisions(&manifest)?;
        let mut known = KnownRevisions::new(&revisions);
        let version = manifest.current().cloned();
        let version = version.unwrap_or_else(|| Version::new(series, 1, "as it came", Vec::new()));
        let mut appended = Appended { forming, ..Appended::default() };
        let mut segments = version.segments;
        for (block, incoming) in blocks(series.interval, &closed) {
            let place = segments.iter().position(|segment| block.range.contains(&segment.start));
            let stored = place.map(|place| folder.segment(&segments[place])).transpose()?.unwrap_or_default();
            let merged = merge(stored, incoming, origin.fetched_at, &mut known);
            appended.new += merged.new;
            appended.same += merged.same;
            appended.revised += merged.revised.len() as u64;
            revisions.extend(merged.revised);
            if merged.new > 0 {
                let segment = folder.put_segment(&*self.disk, &block.name, &merged.candles)?;
                let after = segments.partition_point(|other| other.start < block.range.start);
                match place {
                    Some(place) => segments[place] = segment,
                    None => segments.insert(after, segment),
                }
            }
        }
        if appended.revised > 0 {
            manifest.revisions = Some(folder.put_revisions(&*self.disk, &mut revisions)?);
        }
        manifest.put(Version::new(series, version.number, &version.note, segments));
        manifest.note(origin, appended.new, appended.revised);
        self.commit(&folder, &manifest)?;
        Ok(appended)
    }

    /// Begins a new version of a series, with candles of its own, and makes it the current one. Older versions stay
    /// as they are, and can be read by their number. Answers the new one's.
    ///
    /// # Errors
    /// Those of [`append`](Self::append).
    pub fn add_version(
        &self,
        candles: &CandleSeries,
        note: &str,
        origin: &Origin,
    ) -> Result<u32, HistoryError> {
        let series = candles.series();
        let (folder, _lock) = self.open_to_write(series)?;
        let mut manifest = folder.manifest()?.unwrap_or_else(|| Manifest::new(series));
        let number = manifest.versions.iter().map(|version| version.number).max().unwrap_or(0) + 1;
        let mut segments = Vec::new();
        for (block, inside) in blocks(series.interval, candles.candles()) {
            segments.push(folder.put_segment(&*self.disk, &block.name, inside)?);
        }
        manifest.put(Version::new(series, number, note, segments));
        manifest.note(origin, 0, 0);
        self.commit(&folder, &manifest)?;
        Ok(number)
    }

    /// The values that came later for moments whose candle was there already, by time.
    ///
    /// # Errors
    /// [`HistoryError::CheckPath`] and [`HistoryError::FixFile`] when they cannot be read.
    pub fn revisions(&self, series: Series) -> Result<Vec<Revision>, HistoryError> {
        self.consistently(series, SeriesFolder::revisions).map(Option::unwrap_or_default)
    }

    /// Remembers stretches of closed hours in which a source of the series had no candles.
    ///
    /// # Errors
    /// Those of [`append`](Self::append).
    pub fn note_rests(
        &self,
        series: Series,
        source: &str,
        stretches: &[Range<Millis>],
    ) -> Result<(), HistoryError> {
        let (folder, _lock) = self.open_to_write(series)?;
        let Some(mut manifest) = folder.manifest()? else { return Ok(()) };
        let known = manifest.rests.len();
        for stretch in stretches {
            if !manifest.is_rest(source, stretch) {
                let Range { start, end } = *stretch;
                manifest.rests.push(Rest { source: source.to_owned(), start, end });
            }
        }
        if manifest.rests.len() > known { self.commit(&folder, &manifest) } else { Ok(()) }
    }

    fn open_to_write(&self, series: Series) -> Result<(SeriesFolder, WriteLock), HistoryError> {
        let folder = self.series_folder(series);
        make_folder(&*self.disk, &folder.path).map_err(|source| HistoryError::CheckPath {
            path: folder.path.clone(),
            action: "make",
            source,
        })?;
        let lock = WriteLock::take(&folder.path)?;
        Ok((folder, lock))
    }

    fn commit(&self, folder: &SeriesFolder, manifest: &Manifest) -> Result<(), HistoryError> {
        folder.put_manifest(&*self.disk, manifest)?;
        folder.sweep(&*self.disk, manifest);
        Ok(())
    }
}

fn check_grid(series: Series, candles: &[Candle]) -> Result<Vec<Candle>, HistoryError> {
    let length = series.interval.length();
    match candles.iter().find(|candle| !candle.time().is_aligned_to(length)) {
        None => Ok(candles.to_vec()),
        Some(candle) => {
            let problem = format!("the candle at {} does not lie on the grid of {series}", candle.time());
            Err(HistoryError::ChangeSetting { setting: "interval", problem })
        }
    }
}
