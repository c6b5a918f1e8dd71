//! Bit sets of the candles at which a strategy signals.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

pub(crate) struct BitSet {
    words: Vec<u64>,
}

/// Candles that meet each condition of a declared entry. The entry signals at the candles in all sets.
pub(crate) type EntryBits = Vec<Arc<BitSet>>;

const WORD_BITS: usize = 64;

impl BitSet {
    pub(crate) fn from_byte_codes(codes: &[u8], range: &RangeInclusive<u16>) -> Self {
        let (low, span) = (*range.start() as u8, range.end().wrapping_sub(*range.start()) as u8);
        Self::from_codes(codes, |code| code.wrapping_sub(low) <= span)
    }

    pub(crate) fn from_word_codes(codes: &[u16], range: &RangeInclusive<u16>) -> Self {
        let (low, span) = (*range.start(), range.end().wrapping_sub(*range.start()));
        Self::from_codes(codes, |code| code.wrapping_sub(low) <= span)
    }

    fn from_codes<C: Copy>(codes: &[C], is_met: impl Fn(C) -> bool) -> Self {
        let (whole, rest) = codes.as_chunks::<WORD_BITS>();
        let mut words = Vec::with_capacity(codes.len().div_ceil(WORD_BITS));
        words.extend(whole.iter().map(|codes| pack_bits(&codes.map(|code| u8::from(is_met(code))))));
        if !rest.is_empty() {
            let mut last = [0; WORD_BITS];
            last.iter_mut().zip(rest).for_each(|(bit, code)| *bit = u8::from(is_met(*code)));
            words.push(pack_bits(&last));
        }
        Self { words }
    }

    /// Builds the set of candles, from index `first` on, that meet all conditions of at least one entry.
    pub(crate) fn from_entries(entries: &[&EntryBits], first: usize, candles: usize) -> Self {
        let mut words = vec![0; candles.div_ceil(WORD_BITS)];
        for tests in entries {
            if let [test] = &tests[..] {
                words.iter_mut().zip(&test.words).for_each(|(any, own)| *any |= own);
                continue;
            }
            for (place, any) in words.iter_mut().enumerate() {
                *any |= tests.iter().fold(u64::MAX, |all, test| all & test.words[place]);
            }
        }
        for (place, word) in words.iter_mut().enumerate().take(first.div_ceil(WORD_BITS)) {
            *word &= upper_mask(first.saturating_sub(place * WORD_BITS));
        }
        if let Some(last) = words.last_mut() {
            *last &= !upper_mask(candles - candles.div_ceil(WORD_BITS).saturating_sub(1) * WORD_BITS);
        }
        Self { words }
    }

    pub(crate) const fn byte_len(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    #[inline]
    pub(crate) fn contains(&self, index: usize) -> bool {
        self.words.get(index / WORD_BITS).is_some_and(|word| word >> (index % WORD_BITS) & 1 == 1)
    }

    #[inline]
    pub(crate) fn find_next(&self, from_index: usize) -> Option<usize> {
        let mut place = from_index / WORD_BITS;
        let mut word = self.words.get(place)? & upper_mask(from_index % WORD_BITS);
        while word == 0 {
            place += 1;
            word = *self.words.get(place)?;
        }
        Some(place * WORD_BITS + word.trailing_zeros() as usize)
    }

    #[inline]
    pub(crate) fn count(&self, range: Range<usize>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let (first, last) = (range.start / WORD_BITS, (range.end - 1) / WORD_BITS);
        let words = self.words.get(first..=last).unwrap_or_default();
        let all: u32 = words.iter().map(|word| word.count_ones()).sum();
        let before = words.first().map_or(0, |word| word & !upper_mask(range.start % WORD_BITS));
        let after = words.last().map_or(0, |word| word & upper_mask(range.end - last * WORD_BITS));
        u64::from(all - before.count_ones() - after.count_ones())
    }
}

#[inline]
const fn upper_mask(bit: usize) -> u64 {
    if bit >= WORD_BITS { 0 } else { u64::MAX << bit }
}

/// Packs bytes with the value 0 or 1 into bits. Multiplying by `GATHER_FACTOR` moves eight bits to the highest byte.
#[inline]
fn pack_bits(bytes: &[u8; WORD_BITS]) -> u64 {
    const GATHER_FACTOR: u64 = 0x0102_0408_1020_4080;
    let mut word = 0;
    for (place, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        word |= (u64::from_le_bytes(*eight).wrapping_mul(GATHER_FACTOR) >> 56) << (8 * place);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::super::quantized_series::QuantizedSeries;
    use super::*;
    use candlewick_sdk::{Comparison, LevelSide};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bitset_equals_plain_comparisons(
            values in prop::collection::vec(prop_oneof![Just(f64::NAN), 0.0..10.0, Just(3.0), Just(7.0)], 1..300),
            first in 0_usize..200,
            wide in any::<bool>(),
        ) {
            let mut levels = vec![3.0, 7.0];
            if wide {
                levels.extend((0..200).map(|level| 100.0 + f64::from(level)));
            }
            let mut series = QuantizedSeries::new(levels, values.len(), Vec::new());
            series.extend(&values);
            let low = Comparison { series: 0, side: LevelSide::Below, level: 3.0 };
            let high = Comparison { series: 0, side: LevelSide::Above, level: 7.0 };
            let middle = [Comparison { side: LevelSide::Above, ..low }, Comparison { side: LevelSide::Below, ..high }];
            let test = |comparison: &Comparison| series.bitset(comparison).unwrap();
            for (entries, is_met) in [
                (
                    vec![vec![test(&low)], vec![test(&high)]],
                    Box::new(|value: f64| low.is_met_by(value) || high.is_met_by(value)) as Box<dyn Fn(f64) -> bool>,
                ),
                (middle.iter().map(test).map(|test| vec![test]).collect(), Box::new(|value: f64| !value.is_nan())),
                (
                    vec![middle.iter().map(test).collect()],
                    Box::new(|value: f64| middle.iter().all(|comparison| comparison.is_met_by(value))),
                ),
            ] {
                let tests: Vec<&EntryBits> = entries.iter().collect();
                let set = BitSet::from_entries(&tests, first, values.len());
                let plain: Vec<usize> = (first..values.len()).filter(|index| is_met(values[*index])).collect();
                let mut found = Vec::new();
                let mut cursor = 0;
                while let Some(index) = set.find_next(cursor) {
                    prop_assert!(entries.iter().any(|tests| tests.iter().all(|test| test.contains(index))));
                    found.push(index);
                    cursor = index + 1;
                }
                prop_assert_eq!(&found, &plain);
                for (start, end) in [(0, values.len()), (1, values.len() - 1), (first, first + 64), (5, 5), (63, 65)] {
                    let end = end.min(values.len());
                    let expected = plain.iter().filter(|index| (start..end).contains(*index)).count() as u64;
                    prop_assert_eq!(set.count(start..end.max(start)), expected);
                }
            }
        }
    }
}
