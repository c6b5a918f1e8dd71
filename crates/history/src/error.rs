//! What can be wrong with stored candles.

use candlewick_sdk::ResampleError;
use std::io;
use std::path::PathBuf;

/// Why candles could not be read, written or made.
///
/// [`InvalidSeriesName`](Self::InvalidSeriesName), [`AmbiguousFile`](Self::AmbiguousFile) and [`InvalidSetting`](Self::InvalidSetting)
/// speak of arguments, the others of data.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The system cannot open, read or write the file.
    #[error("{}: cannot {action} the file", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A line does not follow the format.
    #[error("{}, line {line}: {problem}", path.display())]
    InvalidLine {
        /// The file.
        path: PathBuf,
        /// Counted from 1, the header included.
        line: u64,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A file or series holds no candles.
    #[error("{place}: {problem}")]
    NoCandles {
        /// The file or series.
        place: String,
        /// What is missing.
        problem: String,
    },
    /// A data argument does not say its symbol and interval.
    #[error(
        "\"{text}\": {problem}; name the file SYMBOL_INTERVAL.csv (or .parquet), such as BTCUSDT_1m.csv, or write SYMBOL@INTERVAL=PATH, such as BTCUSDT@1m=prices.csv; a table of another program goes into the catalog by `candlewick data import FILE`"
    )]
    InvalidSeriesName {
        /// The argument.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file does not follow its format.
    #[error("{}: {problem}", path.display())]
    InvalidFile {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A file can be read in several ways, and an option has to say which is meant.
    #[error("{}: {seen}; settle it with {option}", path.display())]
    AmbiguousFile {
        /// The file.
        path: PathBuf,
        /// What was seen.
        seen: String,
        /// The option, with an example.
        option: String,
    },
    /// The catalog does not hold these candles.
    #[error("the catalog {} holds no candles of {what}", folder.display())]
    NotInCatalog {
        /// The catalog.
        folder: PathBuf,
        /// The series, and the range where one was asked for.
        what: String,
    },
    /// Another program writes to the series.
    #[error("{}: another program has been writing to this series for {seconds} s", folder.display())]
    SeriesLocked {
        /// The series' folder.
        folder: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// A setting is out of its range.
    #[error("{setting}: {problem}")]
    InvalidSetting {
        /// The setting's name, as the flag of `data generate`.
        setting: &'static str,
        /// What is wrong and what is allowed.
        problem: String,
    },
}

impl From<ResampleError> for HistoryError {
    fn from(error: ResampleError) -> Self {
        Self::InvalidSetting { setting: "interval", problem: error.to_string() }
    }
}
