//! User settings for imports.

use super::format::ImportFormat;
use super::named::TableSettings;
use super::zone::{ClockChange, Zone};
use crate::choice::{ParseChoiceError, parse_choice};
use candlewick_sdk::{Interval, Symbol};
use std::str::FromStr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarTime {
    #[default]
    Open,
    Close,
}

impl FromStr for BarTime {
    type Err = ParseChoiceError;

    fn from_str(text: &str) -> Result<Self, ParseChoiceError> {
        parse_choice(text, &[("open", Self::Open), ("close", Self::Close)])
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
