//! The formats of candle files, recognised by a file's ending.

use crate::{HistoryError, Progress, read_csv_file, read_parquet_file, write_csv_file, write_parquet_file};
use candlewick_sdk::{CandleSeries, Series};
use std::path::Path;

/// A format in which candles are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandleFormat {
    /// Lines of text below a header.
    Csv,
    /// Columns.
    Parquet,
}

impl CandleFormat {
    /// The format that a path's ending names, `.csv` or `.parquet`.
    pub fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?;
        let formats = [("csv", Self::Csv), ("parquet", Self::Parquet)];
        formats.into_iter().find(|(name, _)| ending.eq_ignore_ascii_case(name)).map(|(_, format)| format)
    }

    /// Reads the file at `path`.
    ///
    /// # Errors
    /// Those of [`read_csv_file`] and [`read_parquet_file`].
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

    /// Writes the file at `path`. The old content stays until the new one is complete.
    ///
    /// # Errors
    /// [`HistoryError::Io`] when the file cannot be written.
    pub fn write_file(self, series: &CandleSeries, path: &Path) -> Result<(), HistoryError> {
        match self {
            Self::Csv => write_csv_file(series, path),
            Self::Parquet => write_parquet_file(series, path),
        }
    }
}
