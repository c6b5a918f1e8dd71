//! Block bootstrap: resampled histories that preserve serial dependence.

use super::Dice;
use crate::StatisticsError;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockLength {
    /// Random block lengths: geometric with this mean, at least 1 (stationary bootstrap, Politis and Romano 1994).
    Mean(f64),
    /// Constant block length, at least 1 (circular block bootstrap, Politis and Romano 1992).
    Fixed(u32),
}

/// Generator of block bootstrap paths. Equal seeds and path numbers always give equal paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockBootstrap {
    seed: u64,
    length: BlockLength,
}

impl BlockBootstrap {
    pub fn new(seed: u64, length: BlockLength) -> Result<Self, StatisticsError> {
        let value = match length {
            BlockLength::Mean(mean) => mean,
            BlockLength::Fixed(fixed) => f64::from(fixed),
        };
        if !(value >= 1.0 && value.is_finite()) {
            return Err(StatisticsError::NotANumberFor { what: "block length", value });
        }
        Ok(Self { seed, length })
    }

    /// Returns a resampled path of length `count`. Its elements are 0-based indices of the source numbers.
    pub fn draw_indices(&self, path: u64, count: usize) -> Vec<usize> {
        let mut dice = Dice::new(self.seed, path);
        let mut places = Vec::with_capacity(count);
        let (mut place, mut left) = (0, 0_u32);
        for _ in 0..count {
            let begins = match self.length {
                _ if places.is_empty() => true,
                BlockLength::Mean(mean) => dice.random_bool(1.0 / mean),
                BlockLength::Fixed(_) => left == 0,
            };
            if begins {
                place = dice.index_below(count);
                left = if let BlockLength::Fixed(length) = self.length { length } else { 0 };
            } else {
                place = if place + 1 == count { 0 } else { place + 1 };
            }
            left = left.saturating_sub(1);
            places.push(place);
        }
        places
    }
}

/// Returns the mean block length of a stationary bootstrap that best estimates the variance of the mean.
///
/// With `n` numbers, the result is at least 1, and at most the smaller of `n / 3` and `3 sqrt(n)`.
///
/// Source: Politis and White (2004), corrected by Patton, Politis and White (2009).
pub fn best_block_length(numbers: &[f64]) -> f64 {
    let n = numbers.len() as f64;
    if numbers.len() < 4 {
        return 1.0;
    }
    let mean = numbers.iter().sum::<f64>() / n;
    let covariance = |lag: usize| {
        let pairs = numbers.iter().zip(&numbers[lag..]);
        pairs.map(|(early, late)| (early - mean) * (late - mean)).sum::<f64>() / n
    };
    let variance = covariance(0);
    if variance.is_nan() || variance <= 0.0 {
        return 1.0;
    }
    // Finds several consecutive lags that do not differ significantly from 0, and ignores all lags from there on.
    let in_a_row = 5.max(n.log10().sqrt().ceil() as usize);
    let most = ((n.sqrt().ceil() as usize) + in_a_row).min(numbers.len() - 1);
    let noise = 2.0 * (n.log10() / n).sqrt();
    let covariances: Vec<f64> = (0..=most).map(covariance).collect();
    let is_noise = |lag: &usize| covariances.get(*lag).is_none_or(|one| (one / variance).abs() < noise);
    let last = (0..most).find(|lag| (lag + 1..=lag + in_a_row).all(|later| is_noise(&later)));
    let bandwidth = (2 * last.unwrap_or(most).max(1)).min(most);
    let (mut slope, mut spectrum) = (0.0, variance);
    for (lag, covariance) in covariances.iter().enumerate().take(bandwidth + 1).skip(1) {
        let share = lag as f64 / bandwidth as f64;
        let weight = if share <= 0.5 { 1.0 } else { 2.0 * (1.0 - share) };
        slope += 2.0 * weight * lag as f64 * covariance;
        spectrum += 2.0 * weight * covariance;
    }
    let best = (slope * slope / (spectrum * spectrum) * n).cbrt();
    let longest = (3.0 * n.sqrt()).min(n / 3.0).ceil().max(1.0);
    if best.is_finite() { best.clamp(1.0, longest) } else { longest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    fn autoregressive(memory: f64, count: usize, seed: u64) -> Vec<f64> {
        let mut dice = Dice::new(seed, 0);
        let mut last = dice.normal() / (1.0 - memory * memory).sqrt();
        let step = |()| {
            last = memory * last + dice.normal();
            last
        };
        std::iter::repeat_n((), count).map(step).collect()
    }

    #[test]
    fn wins_of_single_draws_have_the_exact_binomial_distribution() {
        // 40 trades with 22 wins: the wins of a path follow a binomial distribution of 40 draws at 22/40.
        let bootstrap = BlockBootstrap::new(3, BlockLength::Fixed(1)).unwrap();
        let paths = 20_000_u64;
        let wins = |path| bootstrap.draw_indices(path, 40).into_iter().filter(|place| *place < 22).count();
        let mut counts = [0_u64; 41];
        (0..paths).for_each(|path| counts[wins(path)] += 1);
        let exact = Binomial::new(22.0 / 40.0, 40).unwrap();
        let mut below = 0;
        for (won, count) in counts.iter().enumerate() {
            below += count;
            let share = below as f64 / paths as f64;
            // Kolmogorov's bound at 1 in 1,000 is 1.95 / sqrt(paths).
            assert!((share - exact.cdf(won as u64)).abs() < 1.95 / (paths as f64).sqrt(), "{won}: {share}");
        }
    }

    #[test]
    fn blocks_have_their_length_and_run_on() {
        let runs = |length| {
            let bootstrap = BlockBootstrap::new(5, length).unwrap();
            let places = bootstrap.draw_indices(7, 100_000);
            let breaks = places.windows(2).filter(|pair| pair[1] != (pair[0] + 1) % 100_000).count();
            100_000.0 / (breaks as f64 + 1.0)
        };
        assert!((runs(BlockLength::Fixed(20)) - 20.0).abs() < 0.01);
        assert!((runs(BlockLength::Mean(20.0)) - 20.0).abs() < 0.9, "{}", runs(BlockLength::Mean(20.0)));
        // Every index is equally frequent, including those at the ends.
        let bootstrap = BlockBootstrap::new(1, BlockLength::Mean(8.0)).unwrap();
        let mut counts = [0_u32; 10];
        (0..20_000).flat_map(|path| bootstrap.draw_indices(path, 10)).for_each(|place| counts[place] += 1);
        assert!(counts.iter().all(|count| count.abs_diff(20_000) < 900), "{counts:?}");
    }

    #[test]
    fn paths_are_reproducible_and_distinct() {
        let bootstrap = BlockBootstrap::new(9, BlockLength::Mean(4.0)).unwrap();
        assert_eq!(bootstrap.draw_indices(2, 50), bootstrap.draw_indices(2, 50));
        assert_ne!(bootstrap.draw_indices(2, 50), bootstrap.draw_indices(3, 50));
        assert!(bootstrap.draw_indices(0, 0).is_empty());
        for length in [BlockLength::Mean(0.5), BlockLength::Mean(f64::NAN), BlockLength::Fixed(0)] {
            assert!(BlockBootstrap::new(1, length).is_err(), "{length:?}");
        }
    }

    #[test]
    fn best_block_length_of_autoregression_matches_theory() {
        // (2 r / (1 - r^2))^(2/3) n^(1/3), by Politis and White (2004).
        for memory in [0.3_f64, 0.5, 0.7] {
            let count = 20_000;
            let theory = (2.0 * memory / (1.0 - memory * memory)).powf(2.0 / 3.0) * (count as f64).cbrt();
            let mut found: Vec<f64> =
                (0..9).map(|seed| best_block_length(&autoregressive(memory, count, seed))).collect();
            found.sort_by(f64::total_cmp);
            assert!((found[4] / theory - 1.0).abs() < 0.15, "{memory}: {found:?}, theory {theory}");
        }
        let noise: Vec<f64> =
            (0..9).map(|seed| best_block_length(&autoregressive(0.0, 20_000, seed))).collect();
        assert!(noise.iter().filter(|length| **length < 6.0).count() >= 7, "{noise:?}");
        assert_eq!((best_block_length(&[]), best_block_length(&[2.0; 50])), (1.0, 1.0));
    }
}
