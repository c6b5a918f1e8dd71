//! Seeded random numbers, identical on every machine.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

pub(crate) struct Random(ChaCha8Rng);

impl Random {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// Returns a number in `[0, 1)`.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number below `count`, which must not be 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        ((self.fraction() * count as f64) as usize).min(count - 1)
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }

    pub(crate) const fn generator(&mut self) -> &mut ChaCha8Rng {
        &mut self.0
    }
}
