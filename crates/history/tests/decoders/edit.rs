//! Changes of bytes: single ones, stretches, and numbers and words on which readers stumble.

use proptest::prelude::*;
use proptest::sample::Index;

/// One change, at a place that is chosen among the bytes that are there.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Set(Index, u8),
    Flip(Index, u8),
    Write(Index, Vec<u8>),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize),
    Cut(Index),
}

/// Texts with a blank between each two, the mark of UTF-8 and what no text is.
const WORDS: &[u8] =
    b"NaN inf -1 0 1e999 99999999999999999999 -9223372036854775808 253402300799999 null , ; \n \
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
    prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(place, byte)| Edit::Set(place, byte)),
        4 => (any::<Index>(), 0_u8..8).prop_map(|(place, bit)| Edit::Flip(place, bit)),
        4 => (any::<Index>(), piece()).prop_map(|(place, piece)| Edit::Write(place, piece)),
        2 => (any::<Index>(), piece()).prop_map(|(place, piece)| Edit::Insert(place, piece)),
        2 => (any::<Index>(), 1_usize..40).prop_map(|(place, length)| Edit::Remove(place, length)),
        2 => (any::<Index>(), 1_usize..80).prop_map(|(place, length)| Edit::Repeat(place, length)),
        1 => any::<Index>().prop_map(Edit::Cut),
    ]
}

pub(crate) fn edits() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec(edit(), 1..6)
}

pub(crate) fn edited(content: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut content = content.to_vec();
    for edit in edits {
        let length = content.len();
        if length == 0 {
            break;
        }
        let end = |at: usize, count: usize| (at + count).min(length);
        match edit {
            Edit::Set(place, byte) => content[place.index(length)] = *byte,
            Edit::Flip(place, bit) => content[place.index(length)] ^= 1 << bit,
            Edit::Write(place, piece) => {
                let at = place.index(length);
                let range = at..end(at, piece.len());
                let fitting = &piece[..range.len()];
                content[range].copy_from_slice(fitting);
            }
            Edit::Insert(place, piece) => {
                let at = place.index(length);
                content.splice(at..at, piece.iter().copied());
            }
            Edit::Remove(place, count) => {
                let at = place.index(length);
                content.drain(at..end(at, *count));
            }
            Edit::Repeat(place, count) => {
                let at = place.index(length);
                content.extend_from_within(at..end(at, *count));
            }
            Edit::Cut(place) => content.truncate(place.index(length)),
        }
    }
    content
}
