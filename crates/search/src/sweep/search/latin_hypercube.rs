//! Latin hypercube sampling: one point in each of as many strata per axis as there are points.
//!
//! Source: `McKay`, Beckman, Conover, *A Comparison of Three Methods for Selecting Values of Input
//! Variables in the Analysis of Output from a Computer Code*, Technometrics 21 (1979).

use super::random::Random;

pub(super) fn points(axes: usize, count: u64, seed: u64, round: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed, round);
    let mut points: Vec<Vec<f64>> = (0..count).map(|_| Vec::with_capacity(axes)).collect();
    for _ in 0..axes {
        let mut parts: Vec<u64> = (0..count).collect();
        random.shuffle(&mut parts);
        for (point, part) in points.iter_mut().zip(parts) {
            point.push((part as f64 + random.fraction()) / count as f64);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_every_axis_holds_one_point() {
        for count in [1, 2, 7, 100] {
            let points = points(3, count, 42, 0);
            for axis in 0..3 {
                let mut parts: Vec<u64> =
                    points.iter().map(|point| (point[axis] * count as f64) as u64).collect();
                parts.sort_unstable();
                assert_eq!(parts, (0..count).collect::<Vec<_>>());
            }
        }
    }
}
