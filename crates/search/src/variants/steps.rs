//! Price moves per step of clock time. The steps are short enough to recognize a small part of a long series.
//!
//! A step is one candle interval. In a long series, it is longer: 15 minutes for a million one-minute candles.
//! Two series with any intervals are compared over a common multiple of their steps. They count as the same
//! candles if the absolute correlation of their moves is at least 0.95 over at least 24 steps.

use candlewick_sdk::{CandleSeries, Millis, count_closing_before};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

const MAX_MOVES: i64 = 75_000;
/// Preferred steps in milliseconds, so that series with different intervals share a step.
const PREFERRED_STEPS_MS: [i64; 12] = [
    1_000, 5_000, 15_000, 30_000, 60_000, 300_000, 900_000, 1_800_000, 3_600_000, 14_400_000, 43_200_000,
    86_400_000,
];
const MAX_STEP_FACTOR: i64 = 5;
/// Minimum number of candles per compared step, which reduces the noise of single candles.
const MIN_STEP_CANDLES: i64 = 3;
const MAX_STEPS: i64 = 4_096;
const MIN_STEPS: usize = 24;
pub(super) const MIN_CORRELATION: f64 = 0.95;
/// Multiple of the median at which moves are clipped, because one news item can cause large moves in many markets.
const MAX_MOVE_MEDIANS: f64 = 4.0;
const SCALED_MEDIAN_MOVE: f64 = 5.0;
const MAX_STORED_MOVE: i8 = 28;
pub(super) const MISSING_MOVE: i8 = i8::MIN;
/// Character of a zero move. The codes of other moves are offsets from this character.
const ZERO_MOVE_CHAR: u8 = b'?';
const MISSING_MOVE_CHAR: char = '!';

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "StepsJson", into = "StepsJson")]
pub(super) struct Steps {
    /// Candle interval in milliseconds. `step` has the same unit.
    interval: i64,
    pub(super) step: i64,
    /// End of the first step, in steps since 1970.
    first: i64,
    all: Arc<[i8]>,
    part: Range<usize>,
}

#[derive(Serialize, Deserialize)]
struct StepsJson {
    interval: i64,
    step: i64,
    first: i64,
    moves: String,
}

impl Steps {
    /// Builds the steps of a series; `None` if the prices never move.
    pub(super) fn from_series(series: &CandleSeries) -> Option<Self> {
        let (interval, start, end) =
            (series.interval().length().get(), series.start().get(), series.end().get());
        let mut step = interval;
        while (end - start) / step > MAX_MOVES {
            step = next_step(step, interval);
        }
        let candles = series.candles();
        // Returns the last known price, if it is from this step.
        let mut known = 0;
        let mut close_at = |time: i64| {
            // The search continues from the previous step, because a binary search per step is slow on cold memory.
            known +=
                count_closing_before(&candles[known..], series.interval().length(), Millis::new(time + 1));
            let last = candles.get(known.checked_sub(1)?)?;
            (last.time().get() + interval > time - step).then(|| last.close().ln())
        };
        let (first, last) = (start.div_euclid(step) + 1, end.div_euclid(step));
        let closes: Vec<Option<f64>> = (first - 1..=last).map(|place| close_at(place * step)).collect();
        let moves: Vec<Option<f64>> = closes.windows(2).map(|pair| Some(pair[1]? - pair[0]?)).collect();
        let all = to_bytes(&moves, SCALED_MEDIAN_MOVE, f64::from(MAX_STORED_MOVE))?;
        Some(Self { interval, step, first, part: 0..all.len(), all })
    }

    pub(super) fn within(&self, range: &Range<Millis>) -> Self {
        let place = |end: i64| {
            let place = end.saturating_sub(self.first).clamp(0, self.part.len() as i64);
            self.part.start + place as usize
        };
        let start = place(range.start.get().div_euclid(self.step).saturating_add(1));
        let end = place(range.end.get().div_euclid(self.step).saturating_add(1)).max(start);
        let first = self.first + (start - self.part.start) as i64;
        Self { first, part: start..end, all: Arc::clone(&self.all), ..*self }
    }

    pub(super) fn are_alike(&self, other: &Self, both: &Range<Millis>) -> bool {
        let (start, end) = (both.start.get(), both.end.get());
        let Some(step) = self.comparison_step(other, end.saturating_sub(start)) else { return false };
        let places = start.div_euclid(step) + i64::from(start.rem_euclid(step) > 0)..end.div_euclid(step);
        let pairs = places.filter_map(|place| {
            let times = place * step..(place + 1) * step;
            self.total_move(&times).zip(other.total_move(&times)).filter(|pair| *pair != (0.0, 0.0))
        });
        let pairs: Vec<(f64, f64)> = pairs.collect();
        pairs.len() >= MIN_STEPS && correlation(&pairs).is_some_and(|found| found.abs() >= MIN_CORRELATION)
    }

    /// Returns the step for a comparison over `length` milliseconds: a common multiple of both steps.
    pub(super) fn comparison_step(&self, other: &Self, length: i64) -> Option<i64> {
        let mut divisor = (self.step, other.step);
        while divisor.1 > 0 {
            divisor = (divisor.1, divisor.0 % divisor.1);
        }
        let common = (self.step / divisor.0).checked_mul(other.step)?;
        let least = MIN_STEP_CANDLES.checked_mul(self.interval.max(other.interval))?.max(length / MAX_STEPS);
        common.checked_mul((least / common + i64::from(least % common > 0)).max(1))
    }

    fn total_move(&self, times: &Range<i64>) -> Option<f64> {
        let place = |time: i64| usize::try_from((time / self.step + 1).checked_sub(self.first)?).ok();
        let (start, end) = (place(times.start)?, place(times.end)?);
        let moves = self.as_slice().get(start..end)?;
        let sum = |sum, one: &i8| if *one == MISSING_MOVE { None } else { Some(sum + i64::from(*one)) };
        Some(moves.iter().try_fold(0, sum)? as f64)
    }

    pub(super) fn as_slice(&self) -> &[i8] {
        self.all.get(self.part.clone()).unwrap_or_default()
    }
}

fn next_step(step: i64, interval: i64) -> i64 {
    let next = PREFERRED_STEPS_MS.into_iter().find(|other| *other > step && other % interval == 0);
    next.filter(|next| *next <= MAX_STEP_FACTOR * step).unwrap_or(2 * step)
}

fn median(moves: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sizes: Vec<f64> = moves.map(f64::abs).filter(|size| *size > 0.0).collect();
    let middle = sizes.len() / 2;
    (middle < sizes.len()).then(|| *sizes.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Returns the moves as bytes, scaled so that the median is `middle`; `None` if the prices never move.
pub(super) fn to_bytes(moves: &[Option<f64>], middle: f64, most: f64) -> Option<Arc<[i8]>> {
    let median = median(moves.iter().copied().flatten())?;
    let one = |size: f64| (size / median * middle).round().clamp(-most, most) as i8;
    Some(moves.iter().map(|size| size.map_or(MISSING_MOVE, one)).collect())
}

/// Returns the number of pairs, the product of the two variances, and the covariance.
pub(super) fn moments(pairs: impl Iterator<Item = (f64, f64)>) -> (f64, f64, f64) {
    let (mut count, mut sums) = (0.0, [0.0; 5]);
    for (one, two) in pairs {
        count += 1.0;
        for (sum, more) in sums.iter_mut().zip([one, two, one * one, two * two, one * two]) {
            *sum += more;
        }
    }
    let [one, two, squared_one, squared_two, product] = sums.map(|sum| sum / count);
    (count, (squared_one - one * one) * (squared_two - two * two), product - one * two)
}

/// Returns the correlation of moves clipped at [`MAX_MOVE_MEDIANS`] medians; `None` if a series never moves.
pub(super) fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let most = MAX_MOVE_MEDIANS * median(pairs.iter().map(|pair| pair.0))?;
    let most = (most, MAX_MOVE_MEDIANS * median(pairs.iter().map(|pair| pair.1))?);
    let clipped = pairs.iter().map(|(one, two)| (one.clamp(-most.0, most.0), two.clamp(-most.1, most.1)));
    let (_, variances, covariance) = moments(clipped);
    (variances > 0.0).then(|| covariance / variances.sqrt())
}

impl PartialEq for Steps {
    fn eq(&self, other: &Self) -> bool {
        let of = |steps: &Self| (steps.interval, steps.step, steps.first);
        of(self) == of(other) && self.as_slice() == other.as_slice()
    }
}

impl Eq for Steps {}

impl From<Steps> for StepsJson {
    fn from(steps: Steps) -> Self {
        let written = |size: &i8| match *size {
            MISSING_MOVE => MISSING_MOVE_CHAR,
            size => char::from(ZERO_MOVE_CHAR.saturating_add_signed(size)),
        };
        let moves = steps.as_slice().iter().map(written).collect();
        Self { interval: steps.interval, step: steps.step, first: steps.first, moves }
    }
}

impl From<StepsJson> for Steps {
    fn from(written: StepsJson) -> Self {
        let parsed = |code: u8| match i16::from(code) - i16::from(ZERO_MOVE_CHAR) {
            size if size.abs() <= i16::from(MAX_STORED_MOVE) => size as i8,
            _ => MISSING_MOVE,
        };
        let all: Arc<[i8]> = written.moves.bytes().map(parsed).collect();
        // A manually edited line may contain any value.
        let (interval, step) = (written.interval.max(1), written.step.max(1));
        let first = written.first.clamp(i64::MIN / 4, i64::MAX / 4);
        Self { interval, step, first, part: 0..all.len(), all }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{
        Closes, changed, changes, closes, longer_candles, mixed, series, size, with_steps,
    };
    use super::*;
    use proptest::prelude::*;

    fn are_alike(one: &(CandleSeries, Steps), two: &(CandleSeries, Steps)) -> bool {
        let both = one.0.start().max(two.0.start())..one.0.end().min(two.0.end());
        let cut = one.1.within(&both);
        let read: Steps = serde_json::from_str(&serde_json::to_string(&cut).unwrap()).unwrap();
        assert_eq!(read, cut);
        let found = one.1.are_alike(&two.1, &both);
        assert_eq!([two.1.are_alike(&one.1, &both), read.are_alike(&two.1, &both)], [found; 2]);
        found
    }

    #[test]
    fn a_small_part_of_a_million_candles_is_known_however_it_was_changed_and_at_another_interval() {
        let all = closes(1, 1_000_000);
        let own = with_steps(series(1, all.iter().copied()));
        assert_eq!(own.1.step, 15 * 60_000);
        assert!(serde_json::to_string(&own.1).unwrap().len() < 67_000);
        for (count, start) in [(500, 999_500), (500, 400_007), (2_000, 123_456), (10_000, 700_001)] {
            let part = &all[start..start + count];
            for (number, change) in changes(size(part)).iter().enumerate() {
                let other = changed(part, change);
                let alike = are_alike(&own, &with_steps(series(1, other.iter().copied())));
                assert!(alike, "change {number} of {count} from {start}");
            }
            // The candles are rescaled, inverted and joined into longer candles, and compared in both directions.
            for minutes in [2, 5, 15].into_iter().filter(|minutes| count as i64 / minutes >= 300) {
                let other = changed(&longer_candles(minutes, part), &|_, close| 7.0 / close);
                assert!(are_alike(&own, &with_steps(series(minutes, other))), "{count} in {minutes} minutes");
            }
        }
        let longer = with_steps(series(5, longer_candles(5, &all)));
        for count in [2_000, 10_000] {
            let other = changed(&all[600_003..600_003 + count], &|_, close| 7.0 / close);
            assert!(are_alike(&longer, &with_steps(series(1, other))), "{count} in minutes");
        }
    }

    #[test]
    fn markets_that_move_together_and_independent_ones_are_told_apart() {
        let [common, one, two] = [1, 2, 3].map(|seed| closes(seed, 300_000));
        let [one_mixed, two_mixed] = [&one, &two].map(|own| with_steps(series(1, mixed(&common, own))));
        assert!(!are_alike(&one_mixed, &two_mixed));
        let [one, two] = [one, two].map(|closes| with_steps(series(1, closes)));
        assert!(!are_alike(&one, &two));
        for place in 0..600 {
            let start = one.0.start() + Millis::MINUTE * 500 * place;
            let stretch = start..start + Millis::MINUTE * 500;
            assert!(!one_mixed.1.are_alike(&two_mixed.1, &stretch), "{place}");
            assert!(!one.1.are_alike(&two.1, &stretch), "{place}");
        }
    }

    #[test]
    fn one_piece_of_news_that_moved_both_does_not_make_them_alike() {
        let news = |seed| {
            let moved = |place: usize, close: f64| if place < 300 { close } else { close * 2.0 };
            with_steps(series(1, changed(&closes(seed, 600), &moved)))
        };
        assert!(!are_alike(&news(4), &news(5)));
    }

    #[test]
    fn too_few_steps_cannot_tell_and_holes_are_left_out() {
        let all = closes(6, 4_000);
        let own = with_steps(series(1, all.iter().copied()));
        let part = |range: Range<usize>| with_steps(series(1, all[range].iter().copied()));
        // Steps of three candles: 23, then 24 complete steps after the first known price.
        let first = (0..4).find(|place| all[*place].0.is_aligned_to(Millis::MINUTE * 3)).unwrap() + 2;
        assert!(!are_alike(&own, &part(first..first + 72)));
        assert!(are_alike(&own, &part(first..first + 73)));
        let holes = all.iter().copied().enumerate().filter(|(place, _)| place % 7 != 0);
        assert!(are_alike(&own, &with_steps(series(1, holes.map(|(_, close)| close)))));
    }

    #[test]
    fn what_somebody_wrote_by_hand_is_read_and_tells_nothing() {
        let text = |first: i64, step: i64, moves: &str| {
            let text = format!("{{\"interval\":0,\"step\":{step},\"first\":{first},\"moves\":\"{moves}\"}}");
            serde_json::from_str::<Steps>(&text).unwrap()
        };
        let own = with_steps(series(1, closes(1, 1_000))).1;
        for (first, step) in [(i64::MIN, -5), (i64::MAX, i64::MAX), (0, 1), (-7, i64::MAX / 3)] {
            let odd = text(first, step, "?#[!zé");
            for both in [Millis::ZERO..Millis::MAX, Millis::new(i64::MIN)..Millis::MAX] {
                assert!(!odd.are_alike(&own, &both) && !own.are_alike(&odd.within(&both), &both));
            }
        }
    }

    #[test]
    fn a_series_keeps_no_more_moves_than_fit_whatever_its_length() {
        for (candles, minutes, step) in
            [(75_000, 1, 60), (80_000, 1, 300), (80_000, 5, 900), (80_000, 2, 240), (80_000, 60, 14_400)]
        {
            let prices = (0..candles).map(|at| (Millis::MINUTE * (minutes * at), 1.0 + (at % 7) as f64));
            let own = with_steps(series(minutes, prices)).1;
            assert_eq!(
                (own.step / 1_000, own.all.len() <= MAX_MOVES as usize),
                (step, true),
                "{candles} {minutes}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_step_moves_between_the_last_prices_before_its_ends_whatever_is_missing(
            present in prop::collection::vec(prop::bool::weighted(0.7), 3..300),
            start in 0_i64..9,
            minutes in 1_i64..4,
        ) {
            let all = closes(5, present.len());
            let kept = all.iter().zip(&present).enumerate().filter(|(_, (_, present))| **present);
            let at = |place: usize| Millis::MINUTE * (minutes * (start + place as i64));
            let kept: Closes = kept.map(|(place, ((_, close), _))| (at(place), *close)).collect();
            prop_assume!(kept.len() > 1);
            let found = Steps::from_series(&series(minutes, kept.iter().copied()));
            prop_assume!(found.is_some());
            let own = found.unwrap();
            let length = own.interval;
            // Linear search over all candles for every step.
            let close_at = |time: i64| {
                let known = kept.iter().rfind(|(opened, _)| opened.get() + length <= time)?;
                (known.0.get() + length > time - own.step).then(|| known.1.ln())
            };
            let places = own.first..own.first + own.all.len() as i64;
            let moves = places.map(|place| Some(close_at(place * own.step)? - close_at((place - 1) * own.step)?));
            let moves: Vec<Option<f64>> = moves.collect();
            let median = median(moves.iter().copied().flatten()).unwrap();
            let most = f64::from(MAX_STORED_MOVE);
            for (written, size) in own.all.iter().zip(&moves) {
                let expected =
                    size.map(|size| (size / median * SCALED_MEDIAN_MOVE).round().clamp(-most, most) as i8);
                prop_assert_eq!(*written, expected.unwrap_or(MISSING_MOVE));
            }
        }
    }
}
