//! Candles that lie behind the one that is shown and never come.

use super::super::candles::moved;
use super::future::mirrored;
use super::subject::with_room;
use crate::{Candle, Interval, Ohlcv};

/// Candles at the times of others, which fall where those rise, with other volumes. In their midst one candle at a time is
/// shown: who reads on in memory behind it finds these.
pub(super) struct Decoys(Vec<Candle>);

impl Decoys {
    pub(super) fn of(candles: &[Candle]) -> Self {
        let mut close = candles.first().map_or(1.0, Candle::open);
        let decoy = |(candle, other): (&Candle, &Candle)| {
            let scaled = moved(candle, candle.time(), close / candle.open());
            let turned = with_volume(&mirrored(&scaled), other.volume());
            close = turned.close();
            turned
        };
        let decoys: Vec<Candle> = candles.iter().zip(candles.iter().rev()).map(decoy).collect();
        Self(with_room(&decoys))
    }

    /// Shows a candle in its place among them.
    pub(super) fn with<T>(&mut self, place: usize, candle: &Candle, show: impl FnOnce(&Candle) -> T) -> T {
        let decoy = std::mem::replace(&mut self.0[place], *candle);
        let shown = show(&self.0[place]);
        self.0[place] = decoy;
        shown
    }
}

/// The same candle with another volume.
pub(super) fn with_volume(candle: &Candle, volume: f64) -> Candle {
    let [open, high, low, close] = [candle.open(), candle.high(), candle.low(), candle.close()];
    let numbers = Ohlcv { open, high, low, close, volume };
    Candle::new(candle.time(), Interval::SECOND, numbers).unwrap_or(*candle)
}
