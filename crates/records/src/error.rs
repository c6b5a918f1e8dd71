//! Why a journal cannot be read.

use candlewick_engine::EngineError;
use candlewick_journal::{JournalError, StoredLine};
use candlewick_sdk::{Millis, Series, Symbol};
use candlewick_simulator::SimulatorError;
use std::fmt::Display;

/// Why a journal, or what is asked of it, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// The journal cannot be opened or read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The settings that a run recorded make no Session, or a bot's strategy cannot be built.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The settings that a run recorded make no simulator.
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    /// No run has begun in this journal.
    #[error("the journal has no run yet")]
    NoRun,
    /// An entry is not what a journal holds.
    #[error("the journal's entry {seq} cannot be read: {problem}")]
    UnreadableEntry {
        /// The number of the entry.
        seq: u64,
        /// How that shows.
        problem: String,
    },
    /// The recorded candles of a series overlap or are not in order.
    #[error("the journal's candles of {series} are no series: {problem}")]
    UnreadableCandles {
        /// Whose candles.
        series: Series,
        /// What is wrong with them.
        problem: String,
    },
    /// No intent has this number, and no trade this name.
    #[error("the journal has no intent and no trade \"{name}\"")]
    UnknownTrade {
        /// What was asked for.
        name: String,
    },
    /// What is asked for needs candles that were left out when the journal was compacted.
    #[error("the candles before {} were left out when this journal was compacted", crate::utc(*since))]
    Compacted {
        /// From when on it has them.
        since: Millis,
    },
    /// No run has this number.
    #[error("there is no run {number}: the journal has runs 1 to {last}")]
    UnknownRun {
        /// What was asked for.
        number: u64,
        /// The number of the last run.
        last: u64,
    },
    /// No run has such a bot, or a bot on such a symbol.
    #[error("the journal has no {what} {name}")]
    UnknownName {
        /// What was named.
        what: &'static str,
        /// Its name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// No bot of a run trades this symbol.
    #[error("no bot of run {run} trades {symbol}")]
    UnknownSymbol {
        /// What was asked for.
        symbol: Symbol,
        /// The run of the moment that was asked about.
        run: u64,
        /// The symbols that its bots trade.
        known: Vec<String>,
    },
}

impl RecordsError {
    /// An entry that is not what a journal holds.
    pub(crate) fn unreadable(stored: &StoredLine, problem: impl Display) -> Self {
        Self::UnreadableEntry { seq: stored.seq, problem: problem.to_string() }
    }
}
