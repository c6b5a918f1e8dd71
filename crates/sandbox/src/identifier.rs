//! Identifiers in the venue's form: 26 characters, sortable by time (`observed: values`).

use crate::chance::{Chance, Subject};
use candlewick_sdk::Millis;

const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Named {
    Tenant = 1,
    User = 2,
    Wallet = 3,
    Trade = 4,
    Record = 5,
}

pub(crate) fn identify(chance: Chance, named: Named, time: Millis, keys: [u64; 2]) -> String {
    let bits = |half: u64| {
        let mixed = keys[0].rotate_left(32) ^ named as u64;
        u128::from(chance.word(Subject::Identifier, [mixed, keys[1]], half))
    };
    let moment = u128::from(time.get().max(0).cast_unsigned() & 0xffff_ffff_ffff);
    let value = moment << 80 | (bits(0) << 64 | bits(1)) & ((1 << 80) - 1);
    (0..26).rev().map(|place| char::from(DIGITS[(value >> (place * 5) & 31) as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_has_26_characters_and_starts_with_its_time() {
        // The time part of the form's published example, 01ARZ3NDEK, is 1,469,922,850,259 ms.
        let id = identify(Chance::new(1), Named::Trade, Millis::new(1_469_922_850_259), [1, 0]);
        assert_eq!(id.len(), 26);
        assert!(id.starts_with("01ARZ3NDEK"), "{id}");
    }

    #[test]
    fn identifiers_repeat_with_the_seed_and_differ_in_everything_else() {
        let make = |seed, named, number| identify(Chance::new(seed), named, Millis::ZERO, [number, 0]);
        let reference = make(1, Named::Trade, 1);
        assert_eq!(reference, make(1, Named::Trade, 1));
        for other in [make(2, Named::Trade, 1), make(1, Named::User, 1), make(1, Named::Trade, 2)] {
            assert_ne!(reference, other);
        }
    }
}
