//! Record of generated candles, by which runs recognize synthetic candles.
//!
//! A line of the record has the hash of a series and the settings that generated it. The record only says where to look:
//! candles are synthetic if the generator makes them again.

use crate::configuration::{make_state_folder, state_folder};
use candlewick_history::{GenerateSettings, HashedSeries, HistoryError, generate, with_gaps};
use candlewick_sdk::CandleSeries;
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

#[derive(Debug, Serialize, Deserialize)]
struct GeneratedSeries {
    hash: String,
    settings: GenerateSettings,
    gaps: u32,
}

/// Records the settings that generated `candles`.
pub(super) fn record(candles: &CandleSeries, settings: GenerateSettings, gaps: u32) -> io::Result<()> {
    let hash = HashedSeries::new(candles.clone()).hash().to_hex().to_string();
    make_state_folder()?;
    let path = path().ok_or(io::ErrorKind::NotFound)?;
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    let line = serde_json::to_string(&GeneratedSeries { hash, settings, gaps })?;
    file.write_all(format!("{line}\n").as_bytes())
}

/// Returns whether `candlewick data generate` made the series, as recorded on this machine.
pub(crate) fn is_generated(series: &HashedSeries) -> bool {
    let Some(text) = path().and_then(|path| fs::read_to_string(path).ok()) else { return false };
    let hash = series.hash().to_hex();
    let lines = text.lines().filter(|line| line.contains(hash.as_str()));
    let mut recorded = lines.filter_map(|line| serde_json::from_str::<GeneratedSeries>(line).ok());
    recorded
        .any(|recorded| recorded.generate().is_ok_and(|made| HashedSeries::new(made).hash() == series.hash()))
}

impl GeneratedSeries {
    fn generate(&self) -> Result<CandleSeries, HistoryError> {
        with_gaps(&generate(&self.settings)?, self.gaps, self.settings.seed)
    }
}

fn path() -> Option<PathBuf> {
    Some(state_folder()?.join("generated.jsonl"))
}
