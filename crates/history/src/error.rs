//! Errors from reading, writing and generating candles, and from parsing choices such as `first` or `last`.

use candlewick_sdk::ResampleError;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error("{}: cannot {action} the file", path.display())]
    Io { path: PathBuf, action: &'static str, source: io::Error },
    #[error("{}, line {line}: {problem}", path.display())]
    InvalidLine {
        path: PathBuf,
        /// 1-based line number, including the header.
        line: u64,
        problem: String,
    },
    #[error("{place}: {problem}")]
    NoCandles { place: String, problem: String },
    #[error(
        "\"{text}\": {problem}; name the file SYMBOL_INTERVAL.csv (or .parquet), such as BTCUSDT_1m.csv, or write SYMBOL@INTERVAL=PATH, such as BTCUSDT@1m=prices.csv. For a table from another program, run `candlewick data import FILE`"
    )]
    InvalidSeriesName { text: String, problem: String },
    #[error("{}: {problem}", path.display())]
    InvalidFile { path: PathBuf, problem: String },
    #[error("{}: {seen}; use {option}", path.display())]
    AmbiguousFile { path: PathBuf, seen: String, option: String },
    #[error("the catalog {} holds no candles of {what}", folder.display())]
    NotInCatalog { folder: PathBuf, what: String },
    #[error("{}: another program has been writing to this series for {seconds} s", folder.display())]
    SeriesLocked { folder: PathBuf, seconds: u64 },
    #[error("{setting}: {problem}")]
    InvalidSetting { setting: &'static str, problem: String },
}

impl HistoryError {
    pub(crate) fn io(path: &Path, action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), action, source }
    }
}

impl From<ResampleError> for HistoryError {
    fn from(error: ResampleError) -> Self {
        Self::InvalidSetting { setting: "interval", problem: error.to_string() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not one of {names}")]
pub struct ParseChoiceError {
    text: String,
    names: String,
}

#[cfg(feature = "import")]
pub(crate) const fn choice_values<T: Copy, U, const N: usize>(rows: &[(T, U); N]) -> [T; N] {
    let mut all = [rows[0].0; N];
    let mut index = 0;
    while index < N {
        all[index] = rows[index].0;
        index += 1;
    }
    all
}

pub(crate) fn parse_choice<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, ParseChoiceError> {
    let found = choices.iter().find(|(name, _)| *name == text);
    found.map(|(_, choice)| *choice).ok_or_else(|| ParseChoiceError {
        text: text.chars().take(32).collect(),
        names: choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
    })
}
