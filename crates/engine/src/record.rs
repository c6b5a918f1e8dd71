//! Journal entries, the recorders that receive entries, and the hash of a journal.

use crate::encode::Encoder;
use crate::{Action, Event, EventKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;

/// The first journal entry of a run, with everything that determines the run except the events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the journal format.
    pub format: u32,
    /// Settings that affect decisions: money scale, balance, risk, bots and simulation.
    pub settings: Value,
    /// Name and version of each bot's strategy, in the order of the bots.
    pub strategies: Vec<(String, String)>,
    /// Hash of the candles, `None` outside backtests.
    pub data_hash: Option<String>,
}

impl Header {
    /// Current version of the journal format. Increment it whenever the hashed bytes change.
    pub const FORMAT: u32 = 4;
    /// First format with [`Action::Verdict`] entries.
    pub const FIRST_FORMAT_WITH_VERDICTS: u32 = 3;
}

/// An entry of a journal.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Entry<'a> {
    /// The first entry of a run.
    Header(&'a Header),
    /// An event that the Session handled.
    Event(&'a Event),
    /// An action that the Session returned.
    Action(&'a Action),
}

/// The entries that a recorder needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecorderInterest {
    /// Every entry.
    Everything,
    /// All entries except candles, which are stored elsewhere or covered by a hash.
    AllButCandles,
}

/// A receiver of consecutive journal entries, such as a file or a hash.
pub trait Recorder {
    /// Returns the entries that the recorder needs. The recorder must ignore all other entries.
    fn interest(&self) -> RecorderInterest {
        RecorderInterest::Everything
    }

    /// Records the next entry. After an error, the driver opens no more trades.
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()>;
}

/// Size of the blocks to hash. Aligned blocks of 64 KiB let blake3 use the widest vectors of the processor.
const BLOCK_BYTES: usize = 64 * 1_024;

/// A blake3 hash over the canonical bytes of all entries except candles. Candles are covered by `data_hash`.
pub struct JournalHash {
    hasher: blake3::Hasher,
    encoder: Encoder,
    block: Vec<u8>,
}

impl JournalHash {
    /// Creates the hash of an empty journal.
    pub fn new() -> Self {
        Self {
            hasher: blake3::Hasher::new(),
            encoder: Encoder::default(),
            block: Vec::with_capacity(BLOCK_BYTES + 4_096),
        }
    }

    #[inline(never)]
    fn hash_block(&mut self) {
        while self.block.len() >= BLOCK_BYTES {
            self.hasher.update(&self.block[..BLOCK_BYTES]);
            self.block.drain(..BLOCK_BYTES);
        }
    }

    /// Returns the hash of all recorded entries in hexadecimal.
    pub fn finish(mut self) -> String {
        self.hasher.update(&self.block);
        self.hasher.finalize().to_hex().to_string()
    }
}

impl Default for JournalHash {
    fn default() -> Self {
        Self::new()
    }
}

impl Recorder for JournalHash {
    fn interest(&self) -> RecorderInterest {
        RecorderInterest::AllButCandles
    }

    #[inline]
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        if let Entry::Event(event) = entry
            && matches!(event.kind, EventKind::Candle { .. })
        {
            return Ok(());
        }
        self.encoder.encode(entry, &mut self.block);
        if self.block.len() >= BLOCK_BYTES {
            self.hash_block();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IntentId;
    use candlewick_sdk::Millis;

    fn hash(events: &[EventKind]) -> String {
        let mut hash = JournalHash::new();
        for kind in events {
            let event = Event { at: Millis::ZERO, received: Millis::ZERO, kind: *kind };
            hash.record(Entry::Event(&event)).unwrap();
        }
        hash.finish()
    }

    #[test]
    fn hash_of_a_long_journal_equals_that_of_its_bytes() {
        let doubt = |number| EventKind::InDoubt { intent: IntentId::new(number) };
        let events: Vec<EventKind> = (0..20_000).map(doubt).collect();
        let (mut encoder, mut bytes) = (Encoder::default(), Vec::new());
        for kind in &events {
            let event = Event { at: Millis::ZERO, received: Millis::ZERO, kind: *kind };
            encoder.encode(Entry::Event(&event), &mut bytes);
        }
        assert!(bytes.len() > 2 * BLOCK_BYTES);
        assert_eq!(hash(&events), blake3::hash(&bytes).to_hex().to_string());
    }
}
