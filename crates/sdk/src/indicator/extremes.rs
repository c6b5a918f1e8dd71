//! Extremes of the last candles, shared by Donchian channel and Williams %R.

use super::window::{Fold, Window};
use crate::Candle;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Extremes {
    pub(super) highest: f64,
    pub(super) lowest: f64,
}

/// Highest high and lowest low of the last candles, in amortized constant time.
///
/// The wrapped crate scans its window whenever an extreme leaves it, which happens on every candle
/// while prices fall steadily.
pub(super) type RecentExtremes = Window<Extremes>;

impl Extremes {
    #[inline]
    pub(super) const fn of(candle: &Candle) -> Self {
        Self { highest: candle.high(), lowest: candle.low() }
    }
}

impl Fold for Extremes {
    #[inline]
    fn then(self, later: Self) -> Self {
        Self { highest: self.highest.max(later.highest), lowest: self.lowest.min(later.lowest) }
    }
}
