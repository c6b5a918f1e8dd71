//! Simulated trades for checking statistical guarantees; see [`TradeStream`].

mod block_bootstrap;
mod ruin_paths;
mod trade_stream;
mod verdict_rates;

pub use block_bootstrap::{BlockBootstrap, BlockLength, best_block_length};
pub use ruin_paths::{
    MoneyStop, OversizedStake, RuinTrials, Stops, WalletLimits, simulate_ruin, simulate_ruin_with_limits,
};
pub use trade_stream::{StreamDependence, StreamEvent, TradeStream};
pub use verdict_rates::{PathBatch, VerdictRates};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::f64::consts::TAU;

/// Random number generator that gives the same results on every machine.
pub(crate) struct Dice {
    source: ChaCha8Rng,
    second_normal: Option<f64>,
}

impl Dice {
    /// Creates the generator for one path. Different paths with the same seed are independent.
    pub(crate) fn new(seed: u64, path: u64) -> Self {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        source.set_stream(path);
        Self { source, second_normal: None }
    }

    /// Returns a uniformly distributed number in `[0, 1)`.
    pub(crate) fn uniform(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.source.next_u64() >> 11) as f64 / STEPS
    }

    /// Returns a uniformly distributed index below `count`. `count` must not be 0.
    pub(crate) fn index_below(&mut self, count: usize) -> usize {
        ((u128::from(self.source.next_u64()) * count as u128) >> 64) as usize
    }

    pub(crate) fn random_bool(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Returns a standard normal random number, by the method of Box and Muller (1958).
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(second) = self.second_normal.take() {
            return second;
        }
        // 1 - uniform is never 0, so the logarithm is finite.
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sine, cosine) = (TAU * self.uniform()).sin_cos();
        self.second_normal = Some(radius * sine);
        radius * cosine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_the_moments_of_the_normal_distribution() {
        let mut dice = Dice::new(1, 0);
        let numbers: Vec<f64> = (0..200_000).map(|_| dice.normal()).collect();
        let moment = |power| numbers.iter().map(|x| x.powi(power)).sum::<f64>() / numbers.len() as f64;
        for (power, expected) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            assert!((moment(power) - expected).abs() < 0.06, "moment {power}: {}", moment(power));
        }
    }
}
