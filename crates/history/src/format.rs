//! Candle file formats, detected by file extension.

use crate::{HistoryError, Progress, read_csv_file, read_parquet_file, write_csv_file, write_parquet_file};
use candlewick_sdk::{CandleSeries, Series};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandleFormat {
    Csv,
    Parquet,
}

impl CandleFormat {
    pub fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?;
        let formats = [("csv", Self::Csv), ("parquet", Self::Parquet)];
        formats.into_iter().find(|(name, _)| ending.eq_ignore_ascii_case(name)).map(|(_, format)| format)
    }

    pub fn read_file(
        self,
        path: &Path,
        series: Series,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<CandleSeries, HistoryError> {
        match self {
            Self::Csv => read_csv_file(path, series, progress),
            Self::Parquet => read_parquet_file(path, series),
        }
    }

    pub fn write_file(self, series: &CandleSeries, path: &Path) -> Result<(), HistoryError> {
        match self {
            Self::Csv => write_csv_file(series, path),
            Self::Parquet => write_parquet_file(series, path),
        }
    }
}
