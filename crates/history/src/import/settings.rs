//! What a user can say about a file that the file does not.

use super::format::ImportFormat;
use super::named::TableSettings;
use super::zone::{ClockChange, Zone};
use candlewick_sdk::{Interval, Symbol};
use std::str::FromStr;

/// What the times of bars are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarTime {
    /// Each bar carries the time at which it begins.
    #[default]
    Open,
    /// Each bar carries the time at which it ends.
    Close,
}

/// Why a text is not a [`BarTime`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is neither open nor close")]
pub struct ParseBarTimeError {
    text: String,
}

impl FromStr for BarTime {
    type Err = ParseBarTimeError;

    fn from_str(text: &str) -> Result<Self, ParseBarTimeError> {
        match text {
            "open" => Ok(Self::Open),
            "close" => Ok(Self::Close),
            _ => Err(ParseBarTimeError { text: text.chars().take(32).collect() }),
        }
    }
}

/// How to read a file; what is left out is read from its name and its content, or is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportSettings {
    /// The format.
    pub format: Option<ImportFormat>,
    /// The name of the pair.
    pub symbol: Option<Symbol>,
    /// The candles' length.
    pub interval: Option<Interval>,
    /// Labels of the rows to read, such as a symbol or an interval in a column; empty for all rows.
    pub only: Vec<String>,
    /// The time zone of times that are not moments.
    pub zone: Option<Zone>,
    /// What to do where the clock of that zone is put forward or back.
    pub clock_change: ClockChange,
    /// What the times of bars are.
    pub stamped: BarTime,
    /// How a table is read.
    pub table: TableSettings,
    /// The file inside a zip archive.
    pub entry: Option<String>,
    /// Never unpack more than that.
    pub most_bytes: u64,
}

impl ImportSettings {
    /// No archive unpacks to more than that, unless it is said otherwise: 4 GiB, which is about 60 million lines.
    pub const MAX_BYTES: u64 = 4 << 30;
}

impl Default for ImportSettings {
    fn default() -> Self {
        Self {
            format: None,
            symbol: None,
            interval: None,
            only: Vec::new(),
            zone: None,
            clock_change: ClockChange::Strict,
            stamped: BarTime::Open,
            table: TableSettings::default(),
            entry: None,
            most_bytes: Self::MAX_BYTES,
        }
    }
}
