//! The highest high and the lowest low of the last candles: the piece that Donchian's channel and Williams' %R share.

use super::window::{Fold, Window};
use crate::Candle;

/// The extremes of a stretch of candles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Extremes {
    pub(super) highest: f64,
    pub(super) lowest: f64,
}

/// The extremes of the last candles. The wrapped crate's look through their window whenever the extreme has left it, which on
/// prices that fall for long is at every candle; these take constant time.
pub(super) type RecentExtremes = Window<Extremes>;

impl Extremes {
    /// Of one candle.
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
