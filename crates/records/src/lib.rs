//! Read-only access to journals: runs, intents, balances and orders in doubt.

mod contents;
mod delays;
pub mod explain;
mod limit;
mod lines;
mod moment;
pub mod parity;
mod run;
mod table;
mod trade;
mod verdict;

pub use contents::{FoldedJournal, ForeignTrade, JournalContents, LimitReached};
pub use delays::{DelayLine, DelayPercentiles, Delays};
pub use limit::LimitLine;
pub use lines::{SessionFold, is_candle, parse, parse_refusal, read_recorded_candles};
pub use moment::{count_text, describe_halt, format_delta, format_number, format_time, format_utc};
pub use run::{NO_RUN, RecordedRun, RecordedRuns, TradingMode};
pub use table::{Table, fit_tables_to, table, table_text};
pub use trade::{IntentOrigin, TradeFilter, TradeLine, TradeList, TradePage};
pub use verdict::{
    EDGE_NO_LONGER_HELD, EXPLORATORY, EdgeIntervals, PRACTICE, VerdictLine, edge_threshold,
    no_longer_held_text, threshold_text, verdict_name, verdict_text, withheld_verdict_text,
};

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
    #[error("cannot read journal entry {seq}: {problem}")]
    UnreadableEntry { seq: u64, problem: String },
    #[error("invalid candles of {series} in the journal: {problem}")]
    UnreadableCandles { series: Series, problem: String },
    #[error("the journal has no trade \"{name}\"")]
    UnknownTrade { name: String },
    #[error("the candles before {} were removed when this journal was compacted", format_utc(*since))]
    Compacted { since: Millis },
    #[error("there is no run {number}: the journal has runs 1 to {last}")]
    UnknownRun { number: u64, last: u64 },
    #[error("the journal has no {what} {name}")]
    UnknownName { what: &'static str, name: String, known: Vec<String> },
    #[error("no bot of run {run} trades {symbol}")]
    UnknownSymbol { symbol: Symbol, run: u64, known: Vec<String> },
}

impl RecordsError {
    pub fn unreadable_entry(stored: &StoredLine, problem: impl Display) -> Self {
        Self::UnreadableEntry { seq: stored.seq, problem: problem.to_string() }
    }
}
