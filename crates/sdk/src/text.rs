//! Short inline strings with `Copy`, so that the hot path does not allocate.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::hash::{Hash, Hasher};

/// At most `N` bytes of UTF-8, stored inline.
#[derive(Clone, Copy, Eq, PartialOrd, Ord)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: u8,
}

impl<const N: usize> Text<N> {
    /// Copies `text`, `None` if it is longer than `N` or 255 bytes.
    pub fn new(text: &str) -> Option<Self> {
        let length = u8::try_from(text.len()).ok()?;
        let mut bytes = [0; N];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self { bytes, length })
    }

    /// Copies as much of `text` as fits, up to a character boundary.
    pub fn truncated(text: &str) -> Self {
        let end = text.floor_char_boundary(N.min(255));
        Self::new(&text[..end]).unwrap_or(Self { bytes: [0; N], length: 0 })
    }

    /// Returns the text.
    #[inline]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }

    /// Returns whether the text is empty.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }
}

/// Compares word by word, matching how a text is written (docs/performance.md).
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
            serde::de::Error::custom(format!("text of {} bytes, at most {N} are allowed", text.len()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_does_not_fit_is_refused_or_cut_at_a_character() {
        assert_eq!(Text::<3>::new("abcd"), None);
        assert_eq!(Text::<3>::truncated("aéé").as_str(), "aé");
        assert_eq!(Text::<8>::new("EURUSD").map(|t| t.as_str().to_owned()), Some("EURUSD".to_owned()));
    }
}
