//! The `--data` argument: a candle file or a catalog series.

use crate::error::AppError;
use crate::storage;
use candlewick_history::{CandleFile, Catalog, FileCache, HashedSeries, HistoryError, Progress, resample_by};
use candlewick_sdk::{Interval, Series, Symbol};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A candle file or a catalog series.
///
/// Files are `SYMBOL_INTERVAL.csv` or `.parquet` or `SYMBOL@INTERVAL=PATH`, series are
/// `SYMBOL@INTERVAL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataName {
    File(CandleFile),
    Stored(Series),
}

#[derive(Clone, Debug)]
pub struct CandleStore {
    pub catalog: Catalog,
    pub cache: Option<FileCache>,
    pub objects: PathBuf,
    /// Minimum coverage of a longer candle, in percent of its open-market time.
    pub longer_share_percent: f64,
}

impl DataName {
    pub const fn series(&self) -> Series {
        match self {
            Self::File(source) => source.series,
            Self::Stored(series) => *series,
        }
    }

    pub fn read(
        &self,
        store: &CandleStore,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<HashedSeries, AppError> {
        match self {
            Self::File(source) => {
                let path = storage::here(&source.path, &store.objects)?;
                let source = CandleFile { series: source.series, path: path.into_owned() };
                Ok(match &store.cache {
                    Some(cache) => cache.read(&source, progress)?,
                    None => HashedSeries::new(source.read(progress)?),
                })
            }
            Self::Stored(series) => match self.joined_from(&store.catalog)? {
                None => Ok(store.catalog.read(*series)?),
                Some(shorter) => {
                    let shorter = store.catalog.read(shorter)?;
                    let share = store.longer_share_percent;
                    let longer = resample_by(shorter.candles(), series.interval, share)?;
                    Ok(HashedSeries::new(longer.candles))
                }
            },
        }
    }

    pub fn read_from(&self, catalog: &Catalog) -> Result<Option<Series>, HistoryError> {
        match self {
            Self::File(_) => Ok(None),
            Self::Stored(series) => Ok(Some(self.joined_from(catalog)?.unwrap_or(*series))),
        }
    }

    pub fn joined_from(&self, catalog: &Catalog) -> Result<Option<Series>, HistoryError> {
        let Self::Stored(series) = self else { return Ok(None) };
        let all = catalog.series()?;
        let parts = all.iter().filter(|one| is_part(**one, *series) && !all.contains(series));
        Ok(parts.max_by_key(|one| one.interval).copied())
    }
}

pub(crate) fn names(configured: &[String]) -> Result<Vec<DataName>, AppError> {
    let mut names: Vec<DataName> = Vec::with_capacity(configured.len());
    for text in configured {
        let name: DataName = text.parse()?;
        if let Some(other) = names.iter().find(|other| other.series() == name.series()) {
            let problem = format!("{} is given twice: {other} and {name}", name.series());
            return Err(AppError::invalid(problem).help("leave one of the two out"));
        }
        names.push(name);
    }
    Ok(names)
}

fn stored(text: &str) -> Option<Series> {
    let (symbol, interval) = text.rsplit_once('@')?;
    Some(Series { symbol: Symbol::new(symbol).ok()?, interval: interval.parse::<Interval>().ok()? })
}

impl FromStr for DataName {
    type Err = HistoryError;

    fn from_str(text: &str) -> Result<Self, HistoryError> {
        stored(text).map_or_else(|| text.parse().map(Self::File), |series| Ok(Self::Stored(series)))
    }
}

impl fmt::Display for DataName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(source) => source.path.display().fmt(f),
            Self::Stored(series) => write!(f, "{}@{}", series.symbol, series.interval),
        }
    }
}

pub(super) fn is_part(fine: Series, coarse: Series) -> bool {
    let divides = coarse.interval.length().is_aligned_to(fine.interval.length());
    fine.symbol == coarse.symbol && fine.interval < coarse.interval && divides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_a_path_is_of_the_catalog() {
        for (text, stored) in [
            ("BTCUSDT@1m", true),
            ("PEPE/USDT@60s", true),
            ("EURUSD=X@1m", true),
            ("BTCUSDT@1m=x.csv", false),
            ("BTCUSDT_1m.csv", false),
            ("some@where/BTCUSDT_5s.parquet", false),
        ] {
            let name: DataName = text.parse().unwrap();
            assert_eq!(matches!(name, DataName::Stored(_)), stored, "{text}");
        }
        assert!("BTCUSDT@".parse::<DataName>().is_err());
    }
}
