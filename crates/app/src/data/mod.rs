//! Stored candles: import, check, repair, generation, export and catalog contents.

pub mod check;
mod export;
mod generate;
pub(crate) mod generated;
mod import;

pub use export::{
    CatalogContents, ExportOptions, ExportedSeries, IfExists, OutputFile, ResampledCounts, export,
};
pub use generate::{Defects, GenerateOptions, GenerateTarget, GeneratedCandles, generate_candles};
pub use import::{ImportOptions, ImportedFile, ParsedFile, read_for_catalog};

use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_history::Origin;

fn build_origin(source: String) -> Origin {
    Origin { source, licence: None, fetched_at: SystemClock::new().now(), files: Vec::new() }
}
