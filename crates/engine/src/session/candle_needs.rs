//! Which candles a Session wants, and in which order.

use super::Session;
use crate::SeriesId;
use candlewick_sdk::{Candle, Interval, Staleness};

/// The interval of a bot whose longer candles were out of date most often; `None` if none ever was.
pub type LongerStaleness = Option<(Interval, Staleness)>;

impl Session {
    /// Positions of all series, in the order in which candles of one instant are handed in: shorter interval
    /// first, then first appearance.
    pub fn series_order(&self) -> Vec<SeriesId> {
        let mut order: Vec<SeriesId> = (0..self.series.len()).filter_map(SeriesId::new).collect();
        order.sort_by_key(|id| (self.series[id.index()].interval, *id));
        order
    }

    /// Returns the number of longer candles that strategies did not see because too many shorter ones are missing.
    pub fn longer_not_built(&self) -> u64 {
        self.bots.iter().map(|bot| bot.longer().not_built()).sum()
    }

    /// Returns the staleness of each bot's longer candles, in the bots' order.
    pub fn longer_staleness(&self) -> Vec<LongerStaleness> {
        self.bots.iter().map(|bot| bot.longer().staleness()).collect()
    }

    /// How many candles of a series its bots want to have seen before the start.
    pub fn warmup(&self, series: SeriesId) -> usize {
        let bots = self.listeners.get(series.index()).into_iter().flatten();
        bots.map(|bot| self.bots[bot.index()].warmup()).max().unwrap_or(0)
    }

    /// How many of the last of these candles of a series its bots have to be shown before the start: more than their warm-up where
    /// candles are missing inside the longer ones that they ask for. None where these are too few.
    pub fn history(&self, series: SeriesId, candles: &[Candle]) -> Option<usize> {
        let mut bots = self.listeners.get(series.index()).into_iter().flatten();
        bots.try_fold(0, |most, bot| Some(self.bots[bot.index()].history(candles)?.max(most)))
    }
}
