//! Errors of reading a journal.

use candlewick_engine::EngineError;
use candlewick_journal::{JournalError, StoredLine};
use candlewick_sdk::{Millis, Series, Symbol};
use candlewick_simulator::SimulatorError;
use std::fmt::Display;

#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    #[error("the journal has no run yet")]
    NoRun,
    #[error("the journal's entry {seq} cannot be read: {problem}")]
    UnreadableEntry { seq: u64, problem: String },
    #[error("the journal's candles of {series} are no series: {problem}")]
    UnreadableCandles { series: Series, problem: String },
    #[error("the journal has no intent and no trade \"{name}\"")]
    UnknownTrade { name: String },
    #[error("the candles before {} were left out when this journal was compacted", crate::utc(*since))]
    Compacted { since: Millis },
    #[error("there is no run {number}: the journal has runs 1 to {last}")]
    UnknownRun { number: u64, last: u64 },
    #[error("the journal has no {what} {name}")]
    UnknownName { what: &'static str, name: String, known: Vec<String> },
    #[error("no bot of run {run} trades {symbol}")]
    UnknownSymbol { symbol: Symbol, run: u64, known: Vec<String> },
}

impl RecordsError {
    pub(crate) fn unreadable(stored: &StoredLine, problem: impl Display) -> Self {
        Self::UnreadableEntry { seq: stored.seq, problem: problem.to_string() }
    }
}
