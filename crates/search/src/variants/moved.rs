//! Detection of candles that were shifted in time. Shifted candles have the same price moves at other times.
//!
//! Windows of one series are compared at every position of the other series. If a window matches, the whole overlap is
//! compared, which must have at least 96 steps. A shift is detected only if it is a multiple of the step of one series.

use super::steps::{MIN_CORRELATION, MISSING_MOVE, Steps, correlation};
use std::iter;

const MAX_WINDOWS: usize = 6;
const WINDOW_STEPS: usize = 16;
const MIN_WINDOW_CORRELATION: f64 = 0.9;
const MIN_STEPS: usize = 96;

struct PrefixSums {
    /// Cumulative sums of the moves, each with the number of missing moves so far.
    sums: Vec<(i32, u32)>,
    /// Number of moves per comparison step.
    moves: usize,
}

/// A window of moves. The mean is subtracted from each move, and `size` is the norm of the result.
struct Window {
    start: usize,
    moves: Vec<f64>,
    size: f64,
}

impl Steps {
    pub(super) fn is_shifted_from(&self, other: &Self) -> bool {
        self.has_window_in(other) || other.has_window_in(self)
    }

    fn has_window_in(&self, other: &Self) -> bool {
        let length = |steps: &Self| (steps.as_slice().len() as i64).saturating_mul(steps.step);
        let Some(step) = self.comparison_step(other, length(self).min(length(other))) else { return false };
        let (own, others) = (PrefixSums::new(self, step), PrefixSums::new(other, step));
        // Number of offsets, in steps of this series, at which a longer step of the other series may start.
        let phases = usize::try_from(other.step / self.step).unwrap_or(1).clamp(1, own.moves);
        own.windows(phases).any(|window| {
            let mut places = 0..others.count_windows(window.moves.len());
            places.any(|place| {
                others.is_likely_match(&window, place) && own.is_overlap_match(window.start, &others, place)
            })
        })
    }
}

impl PrefixSums {
    fn new(steps: &Steps, step: i64) -> Self {
        let mut sum = (0, 0);
        let added = steps.as_slice().iter().map(|one| {
            if *one == MISSING_MOVE {
                sum.1 += 1;
            } else {
                sum.0 += i32::from(*one);
            }
            sum
        });
        let sums = iter::once((0, 0)).chain(added).collect();
        Self { sums, moves: usize::try_from(step / steps.step).unwrap_or(usize::MAX) }
    }

    fn move_at(&self, place: usize) -> Option<f64> {
        let (start, end) = (self.sums.get(place)?, self.sums.get(place.checked_add(self.moves)?)?);
        (start.1 == end.1).then(|| f64::from(end.0 - start.0))
    }

    fn count_windows(&self, steps: usize) -> usize {
        self.sums.len().saturating_sub(steps.saturating_mul(self.moves))
    }

    fn moves_from(&self, place: usize, count: usize) -> Option<Vec<f64>> {
        (0..count).map(|step| self.move_at(place + step * self.moves)).collect()
    }

    fn windows(&self, phases: usize) -> impl Iterator<Item = Window> {
        let room = self.count_windows(WINDOW_STEPS).saturating_sub(phases - 1);
        let few = MAX_WINDOWS.min(room);
        let starts = (0..few).flat_map(move |number| {
            let start = if few > 1 { number * (room - 1) / (few - 1) } else { 0 };
            start..start + phases
        });
        starts.filter_map(|start| {
            let moves = self.moves_from(start, WINDOW_STEPS)?;
            let mean = moves.iter().sum::<f64>() / WINDOW_STEPS as f64;
            let moves: Vec<f64> = moves.into_iter().map(|one| one - mean).collect();
            let size = moves.iter().map(|one| one * one).sum::<f64>().sqrt();
            (size > 0.0).then_some(Window { start, moves, size })
        })
    }

    fn is_likely_match(&self, window: &Window, place: usize) -> bool {
        let (mut sum, mut squared, mut product) = (0.0, 0.0, 0.0);
        for (step, own) in window.moves.iter().enumerate() {
            let Some(found) = self.move_at(place + step * self.moves) else { return false };
            (sum, squared, product) = (sum + found, squared + found * found, product + found * own);
        }
        let variance = squared - sum * sum / window.moves.len() as f64;
        variance > 0.0 && product.abs() >= MIN_WINDOW_CORRELATION * window.size * variance.sqrt()
    }

    fn is_overlap_match(&self, own: usize, others: &Self, place: usize) -> bool {
        let before = (own / self.moves).min(place / others.moves);
        let (own, place) = (own - before * self.moves, place - before * others.moves);
        let steps = self.count_windows(1).saturating_sub(own).div_ceil(self.moves);
        let pairs = (0..steps).filter_map(|step| {
            let pair = self.move_at(own + step * self.moves).zip(others.move_at(place + step * others.moves));
            pair.filter(|pair| *pair != (0.0, 0.0))
        });
        let pairs: Vec<(f64, f64)> = pairs.collect();
        pairs.len() >= MIN_STEPS && correlation(&pairs).is_some_and(|found| found.abs() >= MIN_CORRELATION)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{
        Closes, changed, changes, closes, longer_candles, mixed, series, size, with_steps,
    };
    use super::*;
    use candlewick_sdk::Millis;

    fn moved(closes: &[(Millis, f64)], by: i64) -> Closes {
        closes.iter().map(|(time, close)| (*time + Millis::MINUTE * by, *close)).collect()
    }

    fn steps(closes: &[(Millis, f64)]) -> Steps {
        with_steps(series(1, closes.iter().copied())).1
    }

    fn is_moved(one: &Steps, two: &Steps) -> bool {
        let found = one.is_shifted_from(two);
        assert_eq!(two.is_shifted_from(one), found);
        let read: Steps = serde_json::from_str(&serde_json::to_string(one).unwrap()).unwrap();
        assert_eq!(read.is_shifted_from(two), found);
        found
    }

    #[test]
    fn candles_that_were_moved_in_time_are_known_however_they_were_changed() {
        let all = closes(1, 20_000);
        let own = steps(&all);
        for (by, part) in
            [(7, 0..20_000), (-60, 400..1_000), (100_003, 12_345..15_000), (1_440, 19_600..20_000)]
        {
            let part = &all[part];
            for (number, change) in changes(size(part)).iter().enumerate() {
                let other = steps(&moved(&changed(part, change), by));
                assert!(is_moved(&other, &own), "change {number}, by {by}, {} candles", part.len());
            }
        }
        // Longer candles, shifted by a time that is not a multiple of their length.
        assert!(is_moved(&with_steps(series(5, longer_candles(5, &moved(&all[3_000..9_000], 63)))).1, &own));
    }

    #[test]
    fn a_part_of_a_million_candles_is_known_if_it_was_moved() {
        let all = closes(2, 1_000_000);
        let own = steps(&all);
        assert!(is_moved(&steps(&moved(&all[600_000..640_000], 7)), &own));
    }

    #[test]
    fn other_candles_and_other_stretches_of_the_same_ones_are_not_taken_for_moved_ones() {
        let parts: Vec<Steps> = closes(3, 40_000).chunks(5_000).map(steps).collect();
        for (place, one) in parts.iter().enumerate() {
            for two in &parts[..place] {
                assert!(!is_moved(one, two), "{place}");
            }
        }
        let [common, one, two] = [1, 2, 3].map(|seed| closes(seed, 10_000));
        let [one, two] = [one, two].map(|own| mixed(&common, &own));
        assert!(!steps(&one).is_shifted_from(&steps(&moved(&two, 30))));
    }

    #[test]
    fn fewer_than_96_steps_cannot_tell() {
        let all = closes(4, 5_000);
        let own = steps(&all);
        // Each step has three candles; the first and the last step may be incomplete.
        for (count, is_known) in [(3 * 98 + 6, true), (3 * 96 - 3, false)] {
            let part = steps(&moved(&all[1_000..1_000 + count], 61));
            assert_eq!(part.is_shifted_from(&own), is_known, "{count}");
        }
    }
}
