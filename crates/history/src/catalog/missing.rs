//! How many candles a series of the catalog lacks.

use super::Catalog;
use crate::HistoryError;
use crate::check::{MarketHours, missing_candles};
use candlewick_sdk::Series;

impl Catalog {
    /// How many candles of a series are missing between the first and the last while its market was open, as
    /// [`check_series`](crate::check_series) counts them; none when it is not in the catalog. Candles are read only where the market
    /// closes: elsewhere the manifest is enough.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
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
