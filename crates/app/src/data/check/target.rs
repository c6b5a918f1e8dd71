//! Candles to check: catalog series or files.

use crate::candles::{CandleStore, DataName, meant_in_catalog};
use crate::error::AppError;
use crate::progress::Progress;
use crate::storage;
use candlewick_history::{Catalog, CheckSettings, Checked, ImportSettings, check_file, check_series};
use candlewick_sdk::Series;
use std::fmt;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckTarget {
    Stored(Series),
    File(PathBuf, Option<Series>),
}

impl CheckTarget {
    pub fn all_of(names: &[String], catalog: &Catalog) -> Result<Vec<Self>, AppError> {
        if names.is_empty() {
            return Ok(catalog.series()?.into_iter().map(Self::Stored).collect());
        }
        names
            .iter()
            .map(|name| meant_in_catalog(name, catalog).map_or_else(|| Ok(Self::of(name)), Err))
            .collect()
    }

    fn of(text: &str) -> Self {
        match text.parse() {
            Ok(DataName::Stored(series)) => Self::Stored(series),
            // Only the form SYMBOL@INTERVAL=PATH: what a plain name says, the reading of the file finds out.
            Ok(DataName::File(source)) if source.path != Path::new(text) => {
                Self::File(source.path, Some(source.series))
            }
            Ok(DataName::File(_)) | Err(_) => Self::File(PathBuf::from(text), None),
        }
    }

    pub fn check(
        &self,
        settings: &CheckSettings,
        reading: &ImportSettings,
        store: &CandleStore,
        progress: &dyn Progress,
    ) -> Result<Checked, AppError> {
        let work = format!("Checking {self}");
        match self {
            Self::Stored(series) => {
                let _spinner = progress.spinner(&work);
                let candles = store.catalog.read(*series)?.into_candles();
                Ok(check_series(&candles, &store.catalog.revisions(*series)?, settings))
            }
            Self::File(path, named) => {
                let mut reading = reading.clone();
                if let Some(series) = named {
                    reading.symbol.get_or_insert(series.symbol);
                    reading.interval.get_or_insert(series.interval);
                }
                let mut bar = progress.bar(&work);
                let mut watch = |at: candlewick_history::Progress| bar.update(at.read_bytes, at.total_bytes);
                let path = storage::here(path, &store.objects)?;
                Ok(check_file(&path, &reading, settings, &mut watch)?)
            }
        }
    }
}

impl fmt::Display for CheckTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored(series) => write!(f, "{}@{}", series.symbol, series.interval),
            Self::File(path, _) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_series_of_the_catalog_or_any_file() {
        let euro = Series { symbol: "EURUSD".parse().unwrap(), interval: "1m".parse().unwrap() };
        for (text, expected) in [
            ("EURUSD@1m", CheckTarget::Stored(euro)),
            ("EURUSD@1m=x.txt", CheckTarget::File(PathBuf::from("x.txt"), Some(euro))),
            ("EURUSD_1m.csv", CheckTarget::File(PathBuf::from("EURUSD_1m.csv"), None)),
            (
                "DAT_ASCII_EURUSD_M1_2024.zip",
                CheckTarget::File(PathBuf::from("DAT_ASCII_EURUSD_M1_2024.zip"), None),
            ),
        ] {
            assert_eq!(CheckTarget::of(text), expected, "{text}");
        }
    }
}
