//! Candles of any offered interval as of a time: closed ones, optionally the forming one.

use super::board::{Board, NotOffered};
use super::second::Second;
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Ohlcv};

const SAMPLES: i64 = 120;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) interval: Interval,
    pub(crate) start: Millis,
    /// Last open time, inclusive.
    pub(crate) end: Millis,
    pub(crate) skip: usize,
    pub(crate) limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forming {
    Included,
    LeftOut,
}

impl Board {
    pub(crate) fn candles(
        &self,
        window: Window,
        forming: Forming,
        now: Millis,
    ) -> Result<Vec<Candle>, NotOffered> {
        let Window { interval, start, end, skip, limit } = window;
        let series = self.series_of(interval)?;
        let closed = series.as_ref().map_or(&[][..], |series| closed_between(series, start, end, now));
        let asked_for = (start..=end).contains(&now.floor_to(interval.length()));
        let forming = match forming {
            Forming::Included if asked_for => self.forming_candle(interval, now),
            Forming::Included | Forming::LeftOut => None,
        };
        Ok(closed.iter().copied().chain(forming).skip(skip).take(limit).collect())
    }

    fn forming_candle(&self, interval: Interval, now: Millis) -> Option<Candle> {
        let open_time = now.floor_to(interval.length());
        let mut parts = Parts::default();
        let finest = self.stored.first()?;
        for candle in closed_between(finest, open_time, now, now) {
            parts.add(candle.open(), candle.high(), candle.low(), candle.close(), candle.volume());
        }
        let mut time = now.floor_to(self.finest()).max(open_time);
        let step = Millis::from_seconds(((now - time).get() / 1_000 / SAMPLES).max(1));
        while time + step <= now {
            let last = time + step - Millis::SECOND;
            if let (Some(first), Some(last)) = (self.second_at(time), self.second_at(last)) {
                let Second { open, high, low, .. } = first;
                let volume = first.volume * (step.get() / 1_000) as f64;
                parts.add(open, high.max(last.high), low.min(last.low), last.close, volume);
            }
            time += step;
        }
        Candle::new(open_time, interval, parts.numbers?).ok()
    }
}

fn closed_between(series: &CandleSeries, start: Millis, end: Millis, now: Millis) -> &[Candle] {
    let candles = series.candles();
    let from = candles.partition_point(|candle| candle.time() < start);
    let to =
        candles.partition_point(|candle| candle.time() <= end && candle.close_time(series.interval()) <= now);
    candles.get(from..to).unwrap_or_default()
}

#[derive(Default)]
struct Parts {
    numbers: Option<Ohlcv>,
}

impl Parts {
    fn add(&mut self, open: f64, high: f64, low: f64, close: f64, volume: f64) {
        let so_far = self.numbers.unwrap_or(Ohlcv { open, high, low, close, volume: 0.0 });
        self.numbers = Some(Ohlcv {
            open: so_far.open,
            high: so_far.high.max(high),
            low: so_far.low.min(low),
            close,
            volume: so_far.volume + volume,
        });
    }
}
