//! Points of non-adaptive searches: random, Latin hypercube and Sobol.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

pub(crate) struct SeededRandom(ChaCha8Rng);

impl SeededRandom {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// Returns the next random number in `[0, 1)`.
    pub(crate) fn next_fraction(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns the next random index below `count`, which must not be 0.
    pub(crate) fn next_index(&mut self, count: usize) -> usize {
        ((self.next_fraction() * count as f64) as usize).min(count - 1)
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.next_index(last + 1));
        }
    }

    pub(crate) const fn generator(&mut self) -> &mut ChaCha8Rng {
        &mut self.0
    }
}

/// Returns `count` points, one in each of `count` strata of every axis (`McKay` et al., Technometrics 21, 1979).
pub(super) fn latin_hypercube(axes: usize, count: u64, seed: u64, round: u64) -> Vec<Vec<f64>> {
    let mut random = SeededRandom::new(seed, round);
    let mut points: Vec<Vec<f64>> = (0..count).map(|_| Vec::with_capacity(axes)).collect();
    for _ in 0..axes {
        let mut parts: Vec<u64> = (0..count).collect();
        random.shuffle(&mut parts);
        for (point, part) in points.iter_mut().zip(parts) {
            point.push((part as f64 + random.next_fraction()) / count as f64);
        }
    }
    points
}

pub(super) const MAX_SOBOL_AXES: usize = sobol_burley::NUM_DIMENSIONS as usize;
const POINTS_PER_SEQUENCE: u32 = 1 << 16;
/// Number of points per round, a power of two so that the points of each round are evenly spread.
const POINTS_PER_ROUND: u32 = 1 << 12;

/// Returns the points of one round of an Owen-scrambled Sobol sequence.
pub(super) fn sobol(axes: usize, seed: u64, round: u64) -> Vec<Vec<f64>> {
    let rounds = u64::from(POINTS_PER_SEQUENCE / POINTS_PER_ROUND);
    let scramble = (SeededRandom::new(seed, round / rounds).next_fraction() * f64::from(u32::MAX)) as u32;
    let first = (round % rounds) as u32 * POINTS_PER_ROUND;
    let coordinate = |index, axis| f64::from(sobol_burley::sample(index, axis, scramble));
    let point = |index| (0..axes as u32).map(|axis| coordinate(index, axis)).collect();
    (first..first + POINTS_PER_ROUND).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin_hypercube_has_one_point_per_stratum() {
        for count in [1, 2, 7, 100] {
            let points = latin_hypercube(3, count, 42, 0);
            for axis in 0..3 {
                let mut parts: Vec<_> = points.iter().map(|one| (one[axis] * count as f64) as u64).collect();
                parts.sort_unstable();
                assert_eq!(parts, (0..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn sobol_points_fill_every_elementary_box() {
        // A (0, 4, 2)-net in base 2: every box of area 1/16 contains exactly one point, whatever its shape.
        for seed in [0, 1, 99] {
            for first in [0, 16, 32] {
                let points = &sobol(2, seed, 0)[first..first + 16];
                for (wide, high) in [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)] {
                    let mut boxes: Vec<(u32, u32)> = points
                        .iter()
                        .map(|p| ((p[0] * f64::from(wide)) as u32, (p[1] * f64::from(high)) as u32))
                        .collect();
                    boxes.sort_unstable();
                    boxes.dedup();
                    assert_eq!(boxes.len(), 16, "{wide} by {high}");
                }
            }
        }
    }

    #[test]
    fn continues_with_a_new_sequence_after_the_last_round() {
        assert_ne!(sobol(1, 5, 0), sobol(1, 5, 16));
        assert_eq!(sobol(2, 5, 17), sobol(2, 5, 17));
    }
}
