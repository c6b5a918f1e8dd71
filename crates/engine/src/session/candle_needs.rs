//! Candles that a Session needs, and their order.

use super::Session;
use crate::SeriesId;
use candlewick_sdk::{Candle, Interval, Staleness};

/// The interval whose longer candles were stale most often, `None` if none was.
pub type LongerStaleness = Option<(Interval, Staleness)>;

impl Session {
    /// Returns the order of the series for candles of the same time.
    ///
    /// Shorter intervals come first, then the order of first appearance.
    pub fn series_order(&self) -> Vec<SeriesId> {
        let mut order: Vec<SeriesId> = (0..self.series.len()).filter_map(SeriesId::new).collect();
        order.sort_by_key(|id| (self.series[id.index()].interval, *id));
        order
    }

    /// Returns the number of longer candles not built because of missing shorter ones.
    pub fn longer_not_built(&self) -> u64 {
        self.bots.iter().map(|bot| bot.longer().not_built()).sum()
    }

    /// Returns the staleness of each bot's longer candles, in the order of the bots.
    pub fn longer_staleness(&self) -> Vec<LongerStaleness> {
        self.bots.iter().map(|bot| bot.longer().staleness()).collect()
    }

    /// Returns the longest warm-up of the series' bots, in candles.
    pub fn warmup(&self, series: SeriesId) -> usize {
        let bots = self.listeners.get(series.index()).into_iter().flatten();
        bots.map(|bot| self.bots[bot.index()].warmup()).max().unwrap_or(0)
    }

    /// Returns how many of the last `candles` the bots of a series need.
    ///
    /// They are shown before the start. The number exceeds the warm-up if candles are missing
    /// inside longer ones. `None` if there are too few.
    pub fn history(&self, series: SeriesId, candles: &[Candle]) -> Option<usize> {
        let mut bots = self.listeners.get(series.index()).into_iter().flatten();
        bots.try_fold(0, |most, bot| Some(self.bots[bot.index()].history(candles)?.max(most)))
    }
}
