//! Seeded random numbers that are identical on every platform.

use candlewick_sdk::Symbol;
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

pub(super) struct Dice(ChaCha8Rng);

/// Changing this changes every published hash of generated candles.
const CONTEXT: &str = "candlewick 2026-01 synthetic candles";

impl Dice {
    pub(super) fn new(symbol: Symbol, seed: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(&seed.to_le_bytes());
        hasher.update(symbol.as_str().as_bytes());
        Self(ChaCha8Rng::from_seed(*hasher.finalize().as_bytes()))
    }

    /// Returns a uniform number in `[0, 1)`.
    pub(super) fn share(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 / STEPS
    }

    pub(super) fn between(&mut self, low: u32, high: u32) -> u32 {
        let span = u64::from(high - low) + 1;
        low + ((u64::from(self.0.next_u32()) * span) >> 32) as u32
    }

    /// Returns an approximately standard normal number: four uniform ones, scaled.
    pub(super) fn normal(&mut self) -> f64 {
        const LANES: f64 = 4.0;
        let lanes = self.0.next_u64().to_le_bytes();
        let (lanes, _) = lanes.as_chunks::<2>();
        let sum: u32 = lanes.iter().map(|lane| u32::from(u16::from_le_bytes(*lane))).sum();
        // Each lane is even over 0..1 with variance 1/12, so the sum has variance 1/3.
        (f64::from(sum) / 65_536.0 - LANES / 2.0) * (12.0 / LANES).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dice(seed: u64) -> Dice {
        Dice::new(Symbol::new("BTCUSDT").unwrap(), seed)
    }

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let mut dice = dice(1);
        let numbers: Vec<f64> = (0..100_000).map(|_| dice.normal()).collect();
        let mean = numbers.iter().sum::<f64>() / 1e5;
        let variance = numbers.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn numbers_stay_in_their_range_and_reach_its_ends() {
        let mut dice = dice(2);
        let drawn: Vec<u32> = (0..1_000).map(|_| dice.between(3, 5)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&3), Some(&5)));
        assert!((0..1_000).map(|_| dice.share()).all(|share| (0.0..1.0).contains(&share)));
    }

    #[test]
    fn symbol_and_seed_both_matter() {
        let first = |symbol: &str, seed| Dice::new(Symbol::new(symbol).unwrap(), seed).share();
        assert_eq!(first("A", 1), first("A", 1));
        assert_ne!(first("A", 1), first("A", 2));
        assert_ne!(first("A", 1), first("B", 1));
    }
}
