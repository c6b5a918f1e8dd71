//! What keeps a report from being made.

use candlewick_statistics::StatisticsError;
use std::path::PathBuf;

/// Why a report cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Figures that no statistic can be made of.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// A report that cannot be written as JSON.
    #[error("the report cannot be written as JSON")]
    Document(#[from] serde_json::Error),
    /// A file of trades that cannot be read.
    #[error("{}: {problem}", path.display())]
    UnreadableTrades {
        /// The file.
        path: PathBuf,
        /// What the system says.
        problem: String,
    },
    /// A gate that resets daily, before trades that have no times.
    #[error(
        "a gate that resets with the day goes by the times of the trades, and this file has none: it needs the columns decision_time and \
         close_time, in milliseconds"
    )]
    TradesWithoutTimes,
    /// A file whose lines are no trades.
    #[error("{}{}: {problem}", path.display(), line.map_or_else(String::new, |line| format!(", line {line}")))]
    InvalidTrades {
        /// The file.
        path: PathBuf,
        /// The line, from 1, where one is meant.
        line: Option<u64>,
        /// What is wrong with it.
        problem: String,
    },
}
