//! Points of an Owen-scrambled Sobol sequence.

use super::random::Random;

pub(super) const MAX_AXES: usize = sobol_burley::NUM_DIMENSIONS as usize;
const SEQUENCE: u32 = 1 << 16;
/// Points per round, a power of two so that each round is evenly spread.
const ROUND: u32 = 1 << 12;

pub(super) fn points(axes: usize, seed: u64, round: u64) -> Vec<Vec<f64>> {
    let rounds = u64::from(SEQUENCE / ROUND);
    // Another sequence has another scramble, which follows from the seed.
    let scramble = (Random::new(seed, round / rounds).fraction() * f64::from(u32::MAX)) as u32;
    let first = (round % rounds) as u32 * ROUND;
    let coordinate = |index, axis| f64::from(sobol_burley::sample(index, axis, scramble));
    let point = |index| (0..axes as u32).map(|axis| coordinate(index, axis)).collect();
    (first..first + ROUND).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_points_fill_every_elementary_box() {
        // A (0, 4, 2)-net in base 2: each box of area 1/16, however it is cut, holds exactly one point.
        for seed in [0, 1, 99] {
            for first in [0, 16, 32] {
                let points = &points(2, seed, 0)[first..first + 16];
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
    fn a_round_past_the_end_of_a_sequence_begins_another() {
        assert_ne!(points(1, 5, 0), points(1, 5, 16));
        assert_eq!(points(2, 5, 17), points(2, 5, 17));
    }
}
