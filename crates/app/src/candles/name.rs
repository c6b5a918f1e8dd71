//! What `--data` takes: a file, or a series of the catalog.

use crate::error::AppError;
use crate::storage;
use candlewick_history::{CandleFile, Catalog, FileCache, HashedSeries, HistoryError, Progress, resample_by};
use candlewick_sdk::{Interval, Series, Symbol};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// `SYMBOL_INTERVAL.csv` or `.parquet`, `SYMBOL@INTERVAL=PATH`, or `SYMBOL@INTERVAL` for a series of the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataName {
    /// A file.
    File(CandleFile),
    /// A series of the catalog.
    Stored(Series),
}

/// Where named candles are looked for.
#[derive(Clone, Debug)]
pub struct CandleStore {
    /// The folder of stored candles.
    pub catalog: Catalog,
    /// Parsed copies of files; none where none are kept.
    pub cache: Option<FileCache>,
    /// The folder of copies of files that lie on object storage.
    pub objects: PathBuf,
    /// Share of its open-market time that a longer candle needs, in percent.
    pub longer_share_percent: f64,
}

impl DataName {
    /// The series that it names.
    pub const fn series(&self) -> Series {
        match self {
            Self::File(source) => source.series,
            Self::Stored(series) => *series,
        }
    }

    /// Reads the candles; a file on object storage is brought here once.
    ///
    /// # Errors
    /// A file, line or series that cannot be read.
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

    /// The series of the catalog that its candles are read from; none where it is a file.
    ///
    /// # Errors
    /// A catalog that cannot be read.
    pub fn read_from(&self, catalog: &Catalog) -> Result<Option<Series>, HistoryError> {
        match self {
            Self::File(_) => Ok(None),
            Self::Stored(series) => Ok(Some(self.joined_from(catalog)?.unwrap_or(*series))),
        }
    }

    /// The series of the catalog whose candles make up those that it does not hold: the longest that do.
    ///
    /// # Errors
    /// A catalog that cannot be read.
    pub fn joined_from(&self, catalog: &Catalog) -> Result<Option<Series>, HistoryError> {
        let Self::Stored(series) = self else { return Ok(None) };
        let all = catalog.series()?;
        let parts = all.iter().filter(|one| is_part(**one, *series) && !all.contains(series));
        Ok(parts.max_by_key(|one| one.interval).copied())
    }
}

/// The names that are configured (`[sandbox].data`, or `--data` in its place).
///
/// # Errors
/// A name that does not say its series; a series that is named twice.
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

/// Whether candles of one series join to candles of another.
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
