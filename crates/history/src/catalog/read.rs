//! Reading candles from the catalog.

use super::Catalog;
use super::folder::{SeriesFolder, is_gone};
use super::manifest::Manifest;
use crate::{HashedSeries, HistoryError};
use candlewick_sdk::{Millis, Series};
use std::ops::Range;

/// Maximum number of manifest reads while writers replace the files that it names.
const TRIES: usize = 20;

impl Catalog {
    pub fn read(&self, series: Series) -> Result<HashedSeries, HistoryError> {
        self.consistently(series, |folder, manifest| match manifest.current() {
            Some(version) => folder.candles(&*self.disk, version).map(Some),
            None => Ok(None),
        })?
        .flatten()
        .ok_or_else(|| self.fill_catalog(series.to_string()))
    }

    pub fn read_within(&self, series: Series, range: Range<Millis>) -> Result<HashedSeries, HistoryError> {
        let whole = self.read(series)?;
        let part = whole.candles().within(range.clone());
        let part = part.map_err(|_| {
            let (start, end) = (whole.candles().start(), whole.candles().end());
            let asked = format!("{series} from {} to {}", range.start, range.end);
            self.fill_catalog(format!("{asked} (it has them from {start} to {end}, in ms)"))
        })?;
        let is_whole = part.candles().len() == whole.candles().candles().len();
        Ok(if is_whole { whole } else { HashedSeries::new(part) })
    }

    pub fn read_version(&self, series: Series, number: u32) -> Result<HashedSeries, HistoryError> {
        self.consistently(series, |folder, manifest| match manifest.version(number) {
            Some(version) => folder.candles(&*self.disk, version).map(Some),
            None => Ok(None),
        })?
        .flatten()
        .ok_or_else(|| self.fill_catalog(format!("{series} in version {number}")))
    }

    /// Reads a series by one manifest and retries if a writer replaces its files.
    pub(super) fn consistently<T>(
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
                Err(error) if is_gone(&error) && tries < TRIES => {}
                answer => return answer.map(Some),
            }
        }
    }

    fn fill_catalog(&self, what: String) -> HistoryError {
        HistoryError::NotInCatalog { folder: self.folder.clone(), what }
    }
}
