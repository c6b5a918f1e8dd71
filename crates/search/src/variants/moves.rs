//! Price moves between fixed clock times. Comparisons tolerate rescaling, rounding, inversion and noise.
//!
//! Two series with equal intervals count as the same candles if the absolute correlation of their moves is at least
//! 0.95. Independent prices practically never reach this value. Prices of one market at two venues do.

use super::steps::{MIN_CORRELATION, MISSING_MOVE, moments, to_bytes};
use candlewick_sdk::{Candle, CandleSeries, Millis};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

const MAX_MOVES: i64 = 1_024;
const CANDLES_PER_MOVE: i64 = 4;
/// Minimum number of non-overlapping moves that a comparison needs.
const MIN_MOVES: f64 = 16.0;
const SCALED_MEDIAN_MOVE: f64 = 32.0;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "MovesJson", into = "MovesJson")]
pub(super) struct Moves {
    interval: i64,
    /// Time between moves: the interval times a power of two.
    step: i64,
    /// End of the first move, in steps since 1970.
    first: i64,
    values: Arc<[i8]>,
}

#[derive(Serialize, Deserialize)]
struct MovesJson {
    interval: i64,
    step: i64,
    first: i64,
    values: String,
}

impl Moves {
    /// Builds the moves of a series; `None` if the prices never move.
    pub(super) fn from_series(series: &CandleSeries) -> Option<Self> {
        let (interval, start, end) =
            (series.interval().length().get(), series.start().get(), series.end().get());
        let mut step = interval;
        while (end - start) / step > MAX_MOVES {
            step *= 2;
        }
        let close_at = |time: i64| {
            let opened = Millis::new(time - interval);
            // The candle is at this index if none before it is missing, otherwise at a lower index.
            let latest = usize::try_from((opened - series.start()).get() / interval).ok()?;
            if let Some(candle) = series.candles().get(latest).filter(|candle| candle.time() == opened) {
                return Some(candle.close());
            }
            let possible = &series.candles()[..latest.min(series.candles().len())];
            let place = possible.binary_search_by_key(&opened, Candle::time).ok()?;
            Some(possible[place].close())
        };
        let move_to =
            |time: i64| Some((close_at(time)? / close_at(time - CANDLES_PER_MOVE * interval)?).ln());
        let first = start.div_euclid(step) + 1;
        let moves: Vec<_> = (first..=end.div_euclid(step)).map(|place| move_to(place * step)).collect();
        Some(Self { interval, step, first, values: to_bytes(&moves, SCALED_MEDIAN_MOVE, 127.0)? })
    }

    pub(super) fn are_alike(&self, other: &Self, both: &Range<Millis>) -> bool {
        if self.interval != other.interval || self.interval <= 0 {
            return false;
        }
        let step = self.step.max(other.step);
        let places = both.start.get().div_euclid(step) + 1..=both.end.get().div_euclid(step);
        let pairs = places.filter_map(|place| self.move_at(place * step).zip(other.move_at(place * step)));
        let (count, variances, covariance) = moments(pairs);
        let apart = (step as f64 / (CANDLES_PER_MOVE * self.interval) as f64).min(1.0);
        // Inverted prices count as the same candles: a buy on one is a sell on the other.
        let size = covariance.abs();
        count * apart >= MIN_MOVES && size > 0.0 && size >= MIN_CORRELATION * variances.sqrt()
    }

    fn move_at(&self, time: i64) -> Option<f64> {
        let place = usize::try_from(time.div_euclid(self.step) - self.first).ok()?;
        self.values.get(place).filter(|value| **value != MISSING_MOVE).map(|value| f64::from(*value))
    }
}

impl From<Moves> for MovesJson {
    fn from(moves: Moves) -> Self {
        let mut values = String::with_capacity(moves.values.len() * 2);
        for value in &*moves.values {
            let _ = write!(values, "{:02x}", value.cast_unsigned());
        }
        Self { interval: moves.interval, step: moves.step, first: moves.first, values }
    }
}

impl From<MovesJson> for Moves {
    fn from(written: MovesJson) -> Self {
        let digits = written.values.as_bytes().chunks_exact(2);
        let parsed = digits.map(|digits| u8::from_str_radix(str::from_utf8(digits).unwrap_or_default(), 16));
        let values = parsed.map(|value| value.map_or(MISSING_MOVE, u8::cast_signed)).collect();
        // A manually edited line may contain any value.
        Self { interval: written.interval, step: written.step.max(1), first: written.first, values }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Closes, changed, changes, closes, mixed, series, size};
    use super::*;

    fn are_alike(one: &CandleSeries, two: &CandleSeries) -> bool {
        let [first, second] = [one, two].map(|series| Moves::from_series(series).unwrap());
        let both = one.start().max(two.start())..one.end().min(two.end());
        let read: Moves = serde_json::from_str(&serde_json::to_string(&first).unwrap()).unwrap();
        assert_eq!(read, first);
        assert_eq!(first.are_alike(&second, &both), second.are_alike(&first, &both));
        first.are_alike(&second, &both)
    }

    #[test]
    fn candles_that_were_rescaled_rounded_stirred_or_inverted_moved_alike() {
        for seed in 1..6 {
            let all = closes(seed, 30_000);
            let own = series(1, all.iter().copied());
            for (number, change) in changes(size(&all)).iter().enumerate() {
                for (from, to) in [(0, 30_000), (1, 30_000), (24_000, 30_000), (28_000, 29_400)] {
                    let other = series(1, changed(&all[from..to], change));
                    assert!(are_alike(&own, &other), "seed {seed}, change {number}, {from} to {to}");
                }
            }
        }
    }

    #[test]
    fn other_prices_are_told_apart_and_so_are_markets_that_move_together() {
        for seed in 1..200 {
            let (one, two) = (closes(seed, 4_000), closes(seed + 1_000, 4_000));
            for count in [100, 400, 4_000] {
                let [own, other] = [&one, &two].map(|closes| series(1, closes[..count].iter().copied()));
                assert!(!are_alike(&own, &other), "seed {seed}, {count} candles");
            }
        }
        let [common, one, two] = [1, 2, 3].map(|seed| closes(seed, 4_000));
        let [one, two] = [one, two].map(|own| series(1, mixed(&common, &own)));
        assert!(!are_alike(&one, &two));
    }

    #[test]
    fn a_candle_is_found_where_it_is_whatever_is_missing_before_it() {
        let all = closes(8, 6_000);
        let kept: [fn(usize) -> bool; 4] = [
            |_| true,
            |place| place % 7 != 3,
            |place| !(900..2_100).contains(&place),
            |place| place % 3 != 1,
        ];
        for keeps in kept {
            let kept: Closes = (0..6_000_usize).filter(|at| keeps(*at)).map(|at| all[at]).collect();
            let own = Moves::from_series(&series(1, kept.iter().copied())).unwrap();
            let is_known = |time: i64| kept.iter().any(|(opened, _)| opened.get() + own.interval == time);
            for (place, value) in (own.first..).zip(&*own.values) {
                let time = place * own.step;
                let are_known = is_known(time) && is_known(time - CANDLES_PER_MOVE * own.interval);
                assert_eq!(*value != MISSING_MOVE, are_known, "{time}");
            }
        }
    }
}
