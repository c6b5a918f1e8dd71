//! What can be wrong with candles at rest, named by what the reader must do.

use candlewick_sdk::ResampleError;
use std::io;
use std::path::PathBuf;

/// Why candles could not be read, written or made.
///
/// [`NameSeries`](Self::NameSeries), [`ChooseOption`](Self::ChooseOption) and [`ChangeSetting`](Self::ChangeSetting)
/// speak of arguments, the others of data.
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
    /// A data argument does not say its symbol and interval: name them.
    #[error(
        "\"{text}\": {problem}; name the file SYMBOL_INTERVAL.csv (or .parquet), such as BTCUSDT_1m.csv, or write SYMBOL@INTERVAL=PATH, such as BTCUSDT@1m=prices.csv"
    )]
    NameSeries {
        /// The argument.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file's content is not what it must be: mend or replace it.
    #[error("{}: {problem}", path.display())]
    FixFile {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        problem: String,
    },
    /// Nothing is wrong with a file, but something in it is unclear: an option settles it.
    #[error("{}: {seen}; settle it with {option}", path.display())]
    ChooseOption {
        /// The file.
        path: PathBuf,
        /// What was seen.
        seen: String,
        /// The option, with an example.
        option: String,
    },
    /// The catalog does not hold this.
    #[error("the catalog {} holds no candles of {what}", folder.display())]
    FillCatalog {
        /// The catalog.
        folder: PathBuf,
        /// The series, and the range where one was asked for.
        what: String,
    },
    /// Somebody else writes to the series: wait, or end the other program.
    #[error("{}: another program has been writing to this series for {seconds} s", folder.display())]
    AwaitWriter {
        /// The series' folder.
        folder: PathBuf,
        /// How long was waited.
        seconds: u64,
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

impl From<ResampleError> for HistoryError {
    fn from(error: ResampleError) -> Self {
        Self::ChangeSetting { setting: "interval", problem: error.to_string() }
    }
}
