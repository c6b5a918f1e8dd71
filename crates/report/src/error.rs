//! Errors of reports.

use candlewick_statistics::StatisticsError;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    #[error("the report cannot be written as JSON")]
    Document(#[from] serde_json::Error),
    #[error("{}: {problem}", path.display())]
    UnreadableTrades { path: PathBuf, problem: String },
    #[error(
        "a gate that resets with the day goes by the times of the trades, and this file has none: it needs the columns decision_time and \
         close_time, in milliseconds"
    )]
    TradesWithoutTimes,
    #[error("{}{}: {problem}", path.display(), line.map_or_else(String::new, |line| format!(", line {line}")))]
    InvalidTrades {
        path: PathBuf,
        /// 1-based; `None` if the error concerns the whole file.
        line: Option<u64>,
        problem: String,
    },
}
