//! Seeded random numbers and identifiers. A value depends only on the seed and its keys, not on the order of calls.

use candlewick_sdk::{Millis, Symbol};
use chacha20::ChaCha8Rng;
use rand::{Rng, SeedableRng};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RandomPurpose {
    Identifier = 1,
    Fault = 2,
    Bridge = 3,
    RowOrder = 4,
    PageOrder = 5,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomSource {
    seed: u64,
}

impl RandomSource {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { seed }
    }

    pub(crate) fn random_u64(self, subject: RandomPurpose, keys: [u64; 2], index: u64) -> u64 {
        let mut seed = [0; 32];
        let parts = [self.seed, subject as u64, keys[0], keys[1]];
        for (bytes, part) in seed.chunks_exact_mut(8).zip(parts) {
            bytes.copy_from_slice(&part.to_le_bytes());
        }
        let mut generator = ChaCha8Rng::from_seed(seed);
        generator.set_word_pos(u128::from(index) * 16); // one block of 16 words for each index
        generator.next_u64()
    }

    pub(crate) fn random_fraction(self, subject: RandomPurpose, keys: [u64; 2], index: u64) -> f64 {
        (self.random_u64(subject, keys, index) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns an approximately normal random number with mean 0 and variance 1, identical on all machines.
    pub(crate) fn random_normal(self, subject: RandomPurpose, keys: [u64; 2], index: u64) -> f64 {
        let word = self.random_u64(subject, keys, index);
        let sum: u64 = (0..4).map(|part| (word >> (part * 16)) & 0xffff).sum();
        (sum as f64 / 65_535.0 - 2.0) * 3_f64.sqrt()
    }
}

pub(crate) fn hash_symbol(symbol: Symbol) -> u64 {
    symbol
        .as_str()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

const ID_DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

#[derive(Clone, Copy, Debug)]
pub(crate) enum IdKind {
    Tenant = 1,
    User = 2,
    Wallet = 3,
    Trade = 4,
    Record = 5,
}

/// Generates an id in the venue's ULID format: 26 characters that sort by time.
pub(crate) fn generate_id(chance: RandomSource, kind: IdKind, time: Millis, keys: [u64; 2]) -> String {
    let bits = |half: u64| {
        let mixed = keys[0].rotate_left(32) ^ kind as u64;
        u128::from(chance.random_u64(RandomPurpose::Identifier, [mixed, keys[1]], half))
    };
    let moment = u128::from(time.get().max(0).cast_unsigned() & 0xffff_ffff_ffff);
    let value = moment << 80 | (bits(0) << 64 | bits(1)) & ((1 << 80) - 1);
    (0..26).rev().map(|place| char::from(ID_DIGITS[(value >> (place * 5) & 31) as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_their_inputs_only() {
        let draw = |seed, subject, keys, index| RandomSource::new(seed).random_u64(subject, keys, index);
        let reference = draw(1, RandomPurpose::Fault, [2, 3], 4);
        assert_eq!(reference, draw(1, RandomPurpose::Fault, [2, 3], 4));
        for other in [
            draw(9, RandomPurpose::Fault, [2, 3], 4),
            draw(1, RandomPurpose::Bridge, [2, 3], 4),
            draw(1, RandomPurpose::Fault, [9, 3], 4),
            draw(1, RandomPurpose::Fault, [2, 9], 4),
            draw(1, RandomPurpose::Fault, [2, 3], 9),
        ] {
            assert_ne!(reference, other);
        }
    }

    #[test]
    fn fractions_are_even_and_bells_have_variance_one() {
        let chance = RandomSource::new(7);
        let mean = |of: &dyn Fn(u64) -> f64| (0..20_000).map(of).sum::<f64>() / 20_000.0;
        let fraction = mean(&|index| chance.random_fraction(RandomPurpose::Fault, [0, 0], index));
        let bell = mean(&|index| chance.random_normal(RandomPurpose::Bridge, [0, 0], index));
        let variance = mean(&|index| chance.random_normal(RandomPurpose::Bridge, [0, 0], index).powi(2));
        assert!((fraction - 0.5).abs() < 0.01, "{fraction}");
        assert!(bell.abs() < 0.03, "{bell}");
        assert!((variance - 1.0).abs() < 0.03, "{variance}");
    }

    #[test]
    fn an_identifier_has_26_characters_and_starts_with_its_time() {
        // The time part of the example in the ULID specification is 01ARZ3NDEK, which means 1,469,922,850,259 ms.
        let id = generate_id(RandomSource::new(1), IdKind::Trade, Millis::new(1_469_922_850_259), [1, 0]);
        assert_eq!(id.len(), 26);
        assert!(id.starts_with("01ARZ3NDEK"), "{id}");
    }
}
