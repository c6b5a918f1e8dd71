//! Entries of a journal, and recorders that receive them.

use crate::{Action, Event};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;

/// The first entry of a run: everything that determines it, except for the events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the journal format.
    pub format: u32,
    /// Settings that affect decisions: money scale, balance, risk, bots and simulation.
    pub settings: Value,
    /// Name and version of each bot's strategy, in the order of the bots.
    pub strategies: Vec<(String, String)>,
    /// Hash of the candles, only for backtests.
    pub data_hash: Option<String>,
}

impl Header {
    /// Current version of the journal format.
    ///
    /// Increment it with every change of the hashed bytes.
    pub const FORMAT: u32 = 4;
    /// First format with [`Action::Verdict`] entries.
    pub const FORMAT_OF_VERDICTS: u32 = 3;
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
pub enum Interest {
    /// Every entry.
    Everything,
    /// All entries except candles, which are stored elsewhere or covered by a hash.
    AllButCandles,
}

/// A receiver of entries in order, such as a file or a hash.
pub trait Recorder {
    /// Returns the entries it needs. It must ignore all others.
    fn interest(&self) -> Interest {
        Interest::Everything
    }

    /// Records the next entry.
    ///
    /// # Errors
    /// An entry that could not be written. The driver then opens no more trades.
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()>;
}
