//! Declared indicator series, stored in one or two bytes per candle for comparisons with known levels.

use super::bitset::BitSet;
use crate::sweep::trial_row::lock;
use candlewick_sdk::{Comparison, LevelSide};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

/// A series, stored as the position of each value among the sorted levels of all trials.
///
/// A value between levels has the code `2 x (number of levels below)`. A value equal to a level has the odd
/// code between the two neighbouring even codes. A comparison with a level therefore selects a range of codes.
pub(crate) struct QuantizedSeries {
    levels: Vec<f64>,
    codes: Codes,
    /// Cached comparison results, most recently used last.
    recent: Mutex<Vec<(RangeInclusive<u16>, Arc<BitSet>)>>,
}

const MAX_CACHE_BYTES: usize = 256 * 1_024;

enum Codes {
    Byte(Vec<u8>),
    Word(Vec<u16>),
}

impl QuantizedSeries {
    pub(crate) const MAX_LEVELS: usize = 32_767;

    pub(crate) fn new(mut levels: Vec<f64>, candles: usize, mut buffer: Vec<u8>) -> Self {
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        let codes = if levels.len() <= 127 {
            buffer.clear();
            buffer.reserve_exact(candles);
            Codes::Byte(buffer)
        } else {
            Codes::Word(Vec::with_capacity(candles))
        };
        Self { levels, codes, recent: Mutex::new(Vec::new()) }
    }

    pub(crate) fn into_buffer(self) -> Vec<u8> {
        match self.codes {
            Codes::Byte(buffer) => buffer,
            Codes::Word(_) => Vec::new(),
        }
    }

    pub(crate) fn extend(&mut self, values: &[f64]) {
        let Self { levels, codes, .. } = self;
        match codes {
            Codes::Byte(codes) => append_codes(codes, levels, values, |code| code as u8),
            Codes::Word(codes) => append_codes(codes, levels, values, |code| code as u16),
        }
    }

    pub(crate) fn bitset(&self, comparison: &Comparison) -> Option<Arc<BitSet>> {
        let range = self.code_range(comparison)?;
        let mut recent = lock(&self.recent);
        let known = if let Some(place) = recent.iter().position(|(of, _)| *of == range) {
            recent.remove(place)
        } else {
            let bitset = match &self.codes {
                Codes::Byte(codes) => BitSet::from_byte_codes(codes, &range),
                Codes::Word(codes) => BitSet::from_word_codes(codes, &range),
            };
            if recent.len() >= (MAX_CACHE_BYTES / bitset.byte_len().max(1)).max(2) {
                recent.remove(0);
            }
            (range, Arc::new(bitset))
        };
        let bitset = known.1.clone();
        recent.push(known);
        Some(bitset)
    }

    fn code_range(&self, comparison: &Comparison) -> Option<RangeInclusive<u16>> {
        let place = self.levels.iter().position(|level| *level == comparison.level)?;
        let (place, count) = (u16::try_from(place).ok()?, u16::try_from(self.levels.len()).ok()?);
        Some(match comparison.side {
            LevelSide::Below => 0..=2 * place,
            LevelSide::Above => 2 * place + 2..=2 * count,
        })
    }
}

fn append_codes<C>(codes: &mut Vec<C>, levels: &[f64], values: &[f64], to_code: impl Fn(u64) -> C) {
    let (eights, rest) =
        if levels.len() > MAX_LINEAR_LEVELS { (&[][..], values) } else { values.as_chunks::<8>() };
    for eight in eights {
        codes.extend(encode_eight(levels, eight).map(&to_code));
    }
    codes.extend(rest.iter().map(|value| to_code(encode(levels, *value))));
}

/// Maximum number of levels for which comparing a value with every level is faster than a binary search.
const MAX_LINEAR_LEVELS: usize = 32;

/// Computes eight codes at once, in about the time of two single codes.
fn encode_eight(levels: &[f64], values: &[f64; 8]) -> [u64; 8] {
    let nothing = 2 * levels.len() as u64 + 1;
    let mut codes = values.map(|value| u64::from(value.is_nan()) * nothing);
    for level in levels {
        for (code, value) in codes.iter_mut().zip(values) {
            *code += u64::from(level < value) + u64::from(level <= value);
        }
    }
    codes
}

fn encode(levels: &[f64], value: f64) -> u64 {
    if value.is_nan() {
        return 2 * levels.len() as u64 + 1;
    }
    let below = levels.partition_point(|level| *level < value);
    2 * below as u64 + u64::from(levels.get(below) == Some(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(levels: &[f64]) {
        let values = [f64::NAN, -1.0, 0.0, 5.0, 9.999, 10.0, 10.001, 20.0, 29.0, 30.0, 31.0, f64::INFINITY];
        let mut series = QuantizedSeries::new(levels.to_vec(), values.len(), vec![7; 5]);
        series.extend(&values[..9]);
        series.extend(&values[9..]);
        let codes: Vec<u16> = match &series.codes {
            Codes::Byte(codes) => codes.iter().map(|code| u16::from(*code)).collect(),
            Codes::Word(codes) => codes.clone(),
        };
        for (side, level) in [LevelSide::Below, LevelSide::Above]
            .into_iter()
            .flat_map(|side| levels.iter().map(move |l| (side, *l)))
        {
            let comparison = Comparison { series: 0, side, level };
            let range = series.code_range(&comparison).unwrap();
            for (value, code) in values.iter().zip(&codes) {
                assert_eq!(range.contains(code), comparison.is_met_by(*value), "{value} {comparison:?}");
            }
        }
    }

    #[test]
    fn code_ranges_equal_comparisons() {
        check(&[10.0]);
        check(&[30.0, 10.0, 20.0, 10.0, 0.0]);
        let many: Vec<f64> = (0..100).map(|level| f64::from(level) / 2.0).collect();
        check(&many);
        let more: Vec<f64> = (0..1_000).map(|level| f64::from(level) / 20.0).collect();
        check(&more);
    }

    #[test]
    fn unknown_level_has_no_range() {
        let series = QuantizedSeries::new(vec![10.0], 0, Vec::new());
        assert_eq!(series.code_range(&Comparison { series: 0, side: LevelSide::Below, level: 11.0 }), None);
    }
}
