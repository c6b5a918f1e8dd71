//! Output files for candles, with the format given by the extension.

use crate::error::AppError;
use crate::storage::{self, is_address};
use candlewick_history::CandleFormat;
use candlewick_sdk::CandleSeries;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    Kept,
    /// Replace a file; in a catalog, start a new version of the series.
    Replaced,
}

#[derive(Clone, Debug)]
pub struct OutputFile {
    path: PathBuf,
    format: CandleFormat,
}

impl OutputFile {
    pub fn new(path: &Path, existing: Existing) -> Result<Self, AppError> {
        let shown = path.display();
        let Some(format) = CandleFormat::of_path(path) else {
            let problem = format!("--out {shown}: the name does not say the format");
            return Err(AppError::invalid(problem).help("let it end in .csv or .parquet"));
        };
        let is_there = || if is_address(path) { storage::exists(path) } else { Ok(path.exists()) };
        if existing == Existing::Kept && is_there()? {
            let problem = format!("{shown}: the file is there already");
            return Err(AppError::invalid(problem).help("--force replaces it; --out takes another name"));
        }
        Ok(Self { path: path.to_owned(), format })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn write(&self, candles: &CandleSeries) -> Result<(), AppError> {
        if !is_address(&self.path) {
            return Ok(self.format.write_file(candles, &self.path)?);
        }
        let folder = tempfile::tempdir()
            .map_err(|source| AppError::system("no folder can be made to write in", source))?;
        let file = folder.path().join("candles");
        self.format.write_file(candles, &file)?;
        storage::put_file(&self.path, &file)
    }
}
