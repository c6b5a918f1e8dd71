//! Decoys: candles in memory after the current one that never occur.

use super::super::candles::moved;
use super::future::mirrored;
use super::subject::with_room;
use crate::{Candle, Interval, Ohlcv};

/// Mirrored candles with other volumes, at the times of the real ones.
///
/// One real candle at a time is placed among them. A strategy that reads past it in memory finds
/// decoys.
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

    pub(super) fn with<T>(&mut self, place: usize, candle: &Candle, show: impl FnOnce(&Candle) -> T) -> T {
        let decoy = std::mem::replace(&mut self.0[place], *candle);
        let shown = show(&self.0[place]);
        self.0[place] = decoy;
        shown
    }
}

pub(super) fn with_volume(candle: &Candle, volume: f64) -> Candle {
    let [open, high, low, close] = [candle.open(), candle.high(), candle.low(), candle.close()];
    let numbers = Ohlcv { open, high, low, close, volume };
    Candle::new(candle.time(), Interval::SECOND, numbers).unwrap_or(*candle)
}
