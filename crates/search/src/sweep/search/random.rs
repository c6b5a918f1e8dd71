//! Random numbers from a seed, the same on every machine.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// One of many streams of a seed.
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// At least 0 and below 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of the numbers below `count`, which is not 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        ((self.fraction() * count as f64) as usize).min(count - 1)
    }

    /// Puts a list in any order, each as likely.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }

    /// The generator itself, for libraries that take one.
    pub(crate) const fn generator(&mut self) -> &mut ChaCha8Rng {
        &mut self.0
    }
}
