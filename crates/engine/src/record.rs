//! What a journal is made of, and where it goes.

use crate::{Action, Event};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;

/// The first entry of a journal: everything besides events that decides what happens.
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

/// One entry of a journal.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Entry<'a> {
    /// The first entry.
    Header(&'a Header),
    /// What the Session was told.
    Event(&'a Event),
    /// What the Session answered.
    Action(&'a Action),
}

/// Where entries go, in their order: a file, a hash, nowhere.
pub trait Recorder {
    /// Takes the next entry.
    ///
    /// # Errors
    /// When it could not be written. The driver then opens nothing more.
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()>;
}
