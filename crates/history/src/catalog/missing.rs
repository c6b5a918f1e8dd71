//! Number of missing candles of a series in the catalog.

use super::Catalog;
use crate::HistoryError;
use crate::check::{MarketHours, missing_candles};
use candlewick_sdk::Series;

impl Catalog {
    /// Counts missing candles in open hours, 0 if the series is not in the catalog.
    ///
    /// Counts like [`check_series`](crate::check_series). Only markets with closed hours require
    /// reading the candles; for others the manifest is sufficient.
    pub fn missing_candles(&self, series: Series) -> Result<u64, HistoryError> {
        let missing = self.consistently(series, |folder, manifest| {
            let Some(version) = manifest.current() else { return Ok(0) };
            let slots = (version.end() - version.start()).get() / series.interval.length().get();
            let absent = u64::try_from(slots).unwrap_or(0).saturating_sub(version.candles());
            if absent == 0 || MarketHours::of_symbol(series.symbol) == MarketHours::Always {
                return Ok(absent);
            }
            folder.candles(&*self.disk, version).map(|candles| missing_candles(candles.candles()))
        })?;
        Ok(missing.unwrap_or(0))
    }
}
