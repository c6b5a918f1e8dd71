//! Short inline strings, and safe display of external text.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

/// UTF-8 string of at most `N` bytes, stored inline.
#[derive(Clone, Copy, Eq, PartialOrd, Ord)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: u8,
}

impl<const N: usize> Text<N> {
    /// Copies `text`. Returns `None` if it has more than `N` or more than 255 bytes.
    pub fn new(text: &str) -> Option<Self> {
        let length = u8::try_from(text.len()).ok()?;
        let mut bytes = [0; N];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self { bytes, length })
    }

    /// Copies `text`, truncated at a character boundary if it is too long.
    pub fn truncated(text: &str) -> Self {
        let end = text.floor_char_boundary(N.min(255));
        Self::new(&text[..end]).unwrap_or(Self { bytes: [0; N], length: 0 })
    }

    /// Returns the text as a string slice.
    #[inline]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }

    /// Returns whether the text is empty.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }
}

/// Compares eight bytes at a time, for speed (see docs/performance.md).
impl<const N: usize> PartialEq for Text<N> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let ((words, rest), (other_words, other_rest)) =
            (self.bytes.as_chunks::<8>(), other.bytes.as_chunks::<8>());
        let is_same =
            |(one, other): (&[u8; 8], &[u8; 8])| u64::from_ne_bytes(*one) == u64::from_ne_bytes(*other);
        self.length == other.length && words.iter().zip(other_words).all(is_same) && rest == other_rest
    }
}

impl<const N: usize> Hash for Text<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> Serialize for Text<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, const N: usize> Deserialize<'de> for Text<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::new(&text).ok_or_else(|| {
            serde::de::Error::custom(format!("the text has {} bytes, but the maximum is {N}", text.len()))
        })
    }
}

/// Blank characters that `char::escape_debug` does not escape.
const BLANK_CHARS: [char; 5] = ['\u{115f}', '\u{1160}', '\u{2800}', '\u{3164}', '\u{ffa0}'];

/// Returns whether a character is invisible or changes how neighbouring characters are displayed.
/// Hidden characters are controls (cursor escapes, line ends), direction marks, zero-width and blank characters,
/// combining marks, and unassigned code points.
pub fn is_hidden(letter: char) -> bool {
    match letter {
        ' '..='~' => false,
        other => BLANK_CHARS.contains(&other) || other.escape_debug().len() > 1,
    }
}

/// Escapes [hidden](is_hidden) characters, such as `\u{1b}` and `\n`. Text without hidden characters is not copied.
///
/// ```
/// # use candlewick_sdk::escape_hidden;
/// assert_eq!(escape_hidden("EURUSD.OTC"), "EURUSD.OTC");
/// assert_eq!(escape_hidden("won\u{1b}[2J\nlost"), "won\\u{1b}[2J\\nlost");
/// ```
pub fn escape_hidden(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            blank if BLANK_CHARS.contains(&blank) => shown.extend(blank.escape_unicode()),
            hidden if is_hidden(hidden) => shown.extend(hidden.escape_debug()),
            other => shown.push(other),
        }
    }
    Cow::Owned(shown)
}

/// Separates the thousands of a decimal number with commas.
///
/// ```
/// use candlewick_sdk::group_thousands;
///
/// assert_eq!(group_thousands("-1234567.8901"), "-1,234,567.8901");
/// assert_eq!(group_thousands("+999"), "+999");
/// ```
pub fn group_thousands(number: &str) -> String {
    let end = number.find('.').unwrap_or(number.len());
    let mut text = String::with_capacity(number.len() + end / 3);
    for (at, letter) in number.char_indices() {
        let follows_digit = at > 0 && number.as_bytes()[at - 1].is_ascii_digit();
        if at < end && (end - at).is_multiple_of(3) && follows_digit {
            text.push(',');
        }
        text.push(letter);
    }
    text
}

/// Returns the text as a safe CSV cell.
///
/// Hidden characters are escaped. A text that a spreadsheet would evaluate, because it begins with `=`, `+`, `-` or
/// `@`, gets the prefix `'` unless it is a number. A text that already has this prefix gets a second `'`, so that
/// [`from_csv_cell`] restores the original.
pub fn to_csv_cell(text: &str) -> Cow<'_, str> {
    let shown = escape_hidden(text);
    let is_formula = is_formula(shown.trim_start_matches('\''));
    if is_formula { Cow::Owned(format!("'{shown}")) } else { shown }
}

/// Restores the text of a cell written by [`to_csv_cell`]. Hidden characters stay escaped.
///
/// ```
/// # use candlewick_sdk::{from_csv_cell, to_csv_cell};
/// assert_eq!(from_csv_cell(&to_csv_cell("-x")), "-x");
/// ```
pub fn from_csv_cell(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| is_formula(text.trim_start_matches('\''))).unwrap_or(cell)
}

fn is_formula(text: &str) -> bool {
    let is_number = || text.contains(|letter: char| letter.is_ascii_digit()) && text.parse::<f64>().is_ok();
    text.starts_with(['=', '+', '-', '@']) && !is_number()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rejects_or_truncates_text_that_does_not_fit() {
        assert_eq!(Text::<3>::new("abcd"), None);
        assert_eq!(Text::<3>::truncated("aéé").as_str(), "aé");
        assert_eq!(Text::<8>::new("EURUSD").map(|t| t.as_str().to_owned()), Some("EURUSD".to_owned()));
    }

    #[test]
    fn keeps_visible_text() {
        for text in ["", "a \"b\" 'c' \\ d", "Überschuß 5 %", "売り → 買い", "🕯", "\\u{1b}"] {
            assert!(matches!(escape_hidden(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn escapes_every_hidden_character() {
        // Controls, direction marks, invisible characters, line ends and blanks, from the Unicode tables.
        let ranges = [
            0x00..=0x1f,
            0x7f..=0x9f,
            0xad..=0xad,
            0x61c..=0x61c,
            0x115f..=0x1160,
            0x180e..=0x180e,
            0x200b..=0x200f,
            0x2028..=0x202e,
            0x2060..=0x206f,
            0x3164..=0x3164,
            0xfe00..=0xfe0f,
            0xfeff..=0xfeff,
            0xfff9..=0xfffb,
            0xe_0001..=0xe_007f,
            0xe_0100..=0xe_01ef,
        ];
        for letter in ranges.into_iter().flatten().filter_map(char::from_u32) {
            let text = format!("a{letter}b");
            let shown = escape_hidden(&text);
            let number = format!("a\\u{{{:x}}}b", u32::from(letter));
            let short = matches!(letter, '\0' | '\t' | '\n' | '\r');
            assert!(*shown == number || short && shown.len() == 4, "{number} is shown as {shown}");
            assert!(!shown.contains(letter));
        }
    }

    #[test]
    fn cells_are_not_formulas_and_numbers_stay_numbers() {
        for number in ["-10.00", "+1.5", "-1e-7", "0", "-0"] {
            assert_eq!(to_csv_cell(number), number);
        }
        for (text, expected) in [
            ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
            ("@SUM(1)", "'@SUM(1)"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-2+3", "'-2+3"),
            ("-inf", "'-inf"),
            ("\t=1", "\\t=1"),
            ("\r=1", "\\r=1"),
            ("btc-rsi", "btc-rsi"),
            ("'-2+3", "''-2+3"),
            ("'-2", "'-2"),
            ("'quoted'", "'quoted'"),
        ] {
            assert_eq!(to_csv_cell(text), expected, "{text:?}");
            assert_eq!(from_csv_cell(expected), escape_hidden(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn visible_leaves_nothing_hidden_and_is_idempotent(letters in proptest::collection::vec(any::<char>(), 0..40)) {
            let text: String = letters.into_iter().collect();
            let once = escape_hidden(&text).into_owned();
            prop_assert!(!once.chars().any(is_hidden), "{once:?}");
            prop_assert_eq!(escape_hidden(&once), once.as_str());
        }

        #[test]
        fn cells_round_trip(text in "['=+@a1-]{0,6}") {
            let cell = to_csv_cell(&text).into_owned();
            prop_assert_eq!(from_csv_cell(&cell), text.as_str());
        }
    }
}
