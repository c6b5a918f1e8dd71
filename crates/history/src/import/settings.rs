//! User settings for imports.

use super::format::ImportFormat;
use super::named::TableSettings;
use super::zone::{ClockChange, Zone};
use candlewick_sdk::{Interval, Symbol};
use std::str::FromStr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarTime {
    #[default]
    Open,
    Close,
}

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

/// How to read a file. Omitted settings are detected, else it is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportSettings {
    pub format: Option<ImportFormat>,
    pub symbol: Option<Symbol>,
    pub interval: Option<Interval>,
    /// Labels of the rows to read, such as a symbol or an interval, empty for all rows.
    pub only: Vec<String>,
    pub zone: Option<Zone>,
    pub clock_change: ClockChange,
    pub stamped: BarTime,
    pub table: TableSettings,
    pub entry: Option<String>,
    pub most_bytes: u64,
}

impl ImportSettings {
    /// Default maximum unpacked size: 4 GiB, about 60 million lines.
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
