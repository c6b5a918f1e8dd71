//! Alternative futures of the same past.

use super::super::candles::moved;
use super::super::chance::Chance;
use crate::Candle;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Future {
    Truncated,
    Scrambled,
    Reversed,
    Mirrored,
}

impl Future {
    pub(super) const ALL: [Self; 4] = [Self::Truncated, Self::Scrambled, Self::Reversed, Self::Mirrored];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Truncated => "cut off",
            Self::Scrambled => "scrambled",
            Self::Reversed => "reversed",
            Self::Mirrored => "mirrored",
        }
    }

    pub(super) fn of(self, candles: &[Candle], cut: usize, length: usize) -> Vec<Candle> {
        let (past, future) = candles.split_at(cut);
        let future = &future[..future.len().min(length)];
        let mut order: Vec<usize> = (0..future.len()).collect();
        match self {
            Self::Truncated => order.clear(),
            Self::Scrambled => Chance::new(cut as u64).shuffle(&mut order),
            Self::Reversed => order.reverse(),
            Self::Mirrored => {}
        }
        let mut all = past.to_vec();
        let mut close = past.last().map_or(1.0, Candle::close);
        for (place, from) in order.into_iter().enumerate() {
            let (source, time) = (&future[from], future[place].time());
            let scaled = moved(source, time, close / source.open());
            let next = if self == Self::Mirrored { mirrored(&scaled) } else { scaled };
            close = next.close();
            all.push(next);
        }
        all
    }
}

pub(super) fn mirrored(candle: &Candle) -> Candle {
    let open = candle.open();
    let mirror = |price: f64| open * open / price;
    let numbers = crate::Ohlcv {
        open,
        high: mirror(candle.low()).max(open),
        low: mirror(candle.high()).min(open),
        close: mirror(candle.close()),
        volume: candle.volume(),
    };
    crate::Candle::new(candle.time(), crate::Interval::SECOND, numbers).unwrap_or(*candle)
}
