//! Journal lines and their hash chain. The hash of a line covers the line and the previous hash.

use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ChainHash(blake3::Hash);

impl ChainHash {
    pub const GENESIS: Self = Self(blake3::Hash::from_bytes([0; 32]));

    /// Returns the hash of the next line: blake3 over this hash, `seq` and the line's fields with length prefixes.
    #[must_use]
    pub fn next(self, seq: u64, line: &Line) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.0.as_bytes());
        for number in [seq, line.run] {
            hasher.update(&number.to_le_bytes());
        }
        // This byte distinguishes a missing intent from an intent with the number 0.
        hasher.update(&[u8::from(line.intent.is_some())]);
        hasher.update(&line.intent.unwrap_or_default().to_le_bytes());
        for time in [line.at, line.received] {
            hasher.update(&time.get().to_le_bytes());
        }
        for text in [line.kind.as_str(), &line.body] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        Self(hasher.finalize())
    }

    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(Self)
    }
}

impl From<ChainHash> for String {
    fn from(hash: ChainHash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for ChainHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::from_hex(&text).ok_or("a journal hash must have 64 hexadecimal digits")
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number and hash of the last line of a journal. `seq` is 0 if the journal is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub seq: u64,
    pub hash: ChainHash,
}

impl Head {
    pub(crate) const EMPTY: Self = Self { seq: 0, hash: ChainHash::GENESIS };

    pub(crate) fn advanced_by(self, line: &Line) -> Self {
        let seq = self.seq + 1;
        Self { seq, hash: self.hash.next(seq, line) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLine {
    /// 1-based line number. The numbers have no gaps.
    pub seq: u64,
    pub line: Line,
    pub hash: ChainHash,
}

impl StoredLine {
    pub const fn head(&self) -> Head {
        Head { seq: self.seq, hash: self.hash }
    }
}

pub(crate) struct PendingLine {
    pub(crate) line: Line,
    pub(crate) head: Head,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Run,
    Event,
    Action,
    Note,
}

impl LineKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Event => "event",
            Self::Action => "action",
            Self::Note => "note",
        }
    }

    pub(crate) fn from_text(text: &str) -> Option<Self> {
        [Self::Run, Self::Event, Self::Action, Self::Note].into_iter().find(|kind| kind.as_str() == text)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub run: u64,
    pub kind: LineKind,
    pub intent: Option<u64>,
    /// Venue time at which the recorded event happened.
    pub at: Millis,
    pub received: Millis,
    pub body: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        Line {
            run: 1,
            kind: LineKind::Event,
            intent: Some(2),
            at: Millis::new(3),
            received: Millis::new(4),
            body: "{}".to_owned(),
        }
    }

    #[test]
    fn hash_covers_the_documented_bytes() {
        let mut bytes = vec![0; 32];
        for number in [1_u64, 1] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.push(1);
        for number in [2_u64, 3, 4, 5] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(b"event");
        bytes.extend(2_u64.to_le_bytes());
        bytes.extend(b"{}");
        let expected = blake3::hash(&bytes).to_hex().to_string();
        assert_eq!(ChainHash::GENESIS.next(1, &line()).to_string(), expected);
        assert_eq!(ChainHash::from_hex(&expected), Some(ChainHash::GENESIS.next(1, &line())));
    }
}
