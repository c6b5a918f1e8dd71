//! What can be wrong with candles at rest, named by what the reader must do.

use std::io;
use std::path::PathBuf;

/// Why candles could not be read, written or made.
///
/// [`NameSeries`](Self::NameSeries), [`ConvertToCsv`](Self::ConvertToCsv) and
/// [`ChangeSetting`](Self::ChangeSetting) speak of arguments, the others of data.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The file cannot be opened, read or written: look at the path, its rights and the disk.
    #[error("{}: cannot {action} the file", path.display())]
    CheckPath {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A line is not what it must be: mend it.
    #[error("{}, line {line}: {problem}", path.display())]
    FixLine {
        /// The file.
        path: PathBuf,
        /// Counted from 1, the header included.
        line: u64,
        /// What is wrong and what to do.
        problem: String,
    },
    /// There is nothing to work on: bring candles.
    #[error("{place}: {problem}")]
    AddCandles {
        /// The file or series.
        place: String,
        /// What is missing.
        problem: String,
    },
    /// A data argument does not tell its symbol and interval: name them.
    #[error(
        "\"{text}\": {problem}; name the file SYMBOL_INTERVAL.csv, such as BTCUSDT_1m.csv, or write SYMBOL@INTERVAL=PATH, such as BTCUSDT@1m=prices.csv"
    )]
    NameSeries {
        /// The argument.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The file is in a format that cannot be read: convert it.
    #[error("{}: only CSV files can be read; convert it to a .csv file with the header time,open,high,low,close,volume", path.display())]
    ConvertToCsv {
        /// The file.
        path: PathBuf,
    },
    /// A setting is out of its range: change it.
    #[error("{setting}: {problem}")]
    ChangeSetting {
        /// The setting's name, as the flag of `data generate`.
        setting: &'static str,
        /// What is wrong and what is allowed.
        problem: String,
    },
}
