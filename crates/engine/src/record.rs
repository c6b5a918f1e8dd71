//! What a journal is made of, and where it goes.

use crate::{Action, Event};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;

/// The first entry of a run: everything besides events that decides what happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the journal's form.
    pub format: u32,
    /// The settings that decide: money scale, balance, risk, bots, simulation.
    pub settings: Value,
    /// Name and version of each bot's strategy, in the bots' order.
    pub strategies: Vec<(String, String)>,
    /// The hash of the candles of a backtest.
    pub data_hash: Option<String>,
}

impl Header {
    /// The version of the form that this code writes and hashes; raised with every change of what is hashed.
    pub const FORMAT: u32 = 4;
    /// The first form whose entries have [`Action::Verdict`] among them.
    pub const FORMAT_OF_VERDICTS: u32 = 3;
}

/// One entry of a journal.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Entry<'a> {
    /// The first entry.
    Header(&'a Header),
    /// What the Session was handed.
    Event(&'a Event),
    /// What the Session answered.
    Action(&'a Action),
}

/// Which entries a recorder has to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Every entry.
    Everything,
    /// Candles need not be shown: they are kept elsewhere, or covered by the hash of the data.
    AllButCandles,
}

/// Where entries go, in their order: a file, a hash.
pub trait Recorder {
    /// What it has to be shown. What it need not be shown it ignores.
    fn interest(&self) -> Interest {
        Interest::Everything
    }

    /// Takes the next entry.
    ///
    /// # Errors
    /// When it could not be written. The driver then opens nothing more.
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()>;
}
