//! Changes of bytes: single ones, stretches, and numbers and words on which readers stumble.

use proptest::prelude::*;
use proptest::sample::Index;

#[derive(Clone, Debug)]
pub(crate) struct Edit {
    place: Index,
    removed: usize,
    written: Vec<u8>,
}

const WORDS: &[u8] = b"NaN inf -1 0 1e999 99999999999999999999 -9223372036854775808 253402300799999 null , ; \n \
    \xEF\xBB\xBF \xFF [[ \"";
const NUMBERS: [i64; 8] = [0, -1, 1, i64::MAX, i64::MIN, i32::MAX as i64, i32::MIN as i64, 1 << 40];

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&[u8]> = WORDS.split(|byte| *byte == b' ').collect();
    prop_oneof![
        prop::sample::select(words).prop_map(<[u8]>::to_vec),
        prop::sample::select(NUMBERS.to_vec()).prop_map(|number| number.to_le_bytes().to_vec()),
        prop::sample::select(NUMBERS.to_vec()).prop_map(|number| number.to_le_bytes()[..4].to_vec()),
        prop::collection::vec(any::<u8>(), 1..8),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let change = prop_oneof![
        4 => any::<u8>().prop_map(|byte| (1, vec![byte])),
        4 => piece().prop_map(|piece| (piece.len(), piece)),
        2 => piece().prop_map(|piece| (0, piece)),
        2 => (1_usize..40).prop_map(|length| (length, Vec::new())),
        1 => Just((usize::MAX, Vec::new())),
    ];
    (any::<Index>(), change).prop_map(|(place, (removed, written))| Edit { place, removed, written })
}

pub(crate) fn edits() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec(edit(), 1..6)
}

pub(crate) fn edited(content: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut content = content.to_vec();
    for Edit { place, removed, written } in edits {
        if content.is_empty() {
            break;
        }
        let at = place.index(content.len());
        let end = at.saturating_add(*removed).min(content.len());
        content.splice(at..end, written.iter().copied());
    }
    content
}
