//! The only source of randomness: a schedule is its seed.

use chacha20::ChaCha8Rng;
use rand::{Rng, SeedableRng};

pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = (high - low).unsigned_abs() + 1;
        low + (self.0.next_u64() % span) as i64
    }

    pub(crate) fn per_mille(&mut self, often: i64) -> bool {
        self.between(0, 999) < often
    }

    pub(crate) fn one_in(&mut self, times: i64) -> bool {
        self.between(1, times) == 1
    }

    pub(crate) fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.between(0, among.len() as i64 - 1) as usize]
    }

    pub(crate) fn skewed(&mut self, low: i64, high: i64) -> i64 {
        let top = self.between(low, high);
        let middle = self.between(low, top);
        self.between(low, middle)
    }
}

pub(crate) fn mix(keys: [u64; 3]) -> u64 {
    keys.into_iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, key| {
        let hash = (hash ^ key).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ (hash >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ (hash >> 32)
    })
}
