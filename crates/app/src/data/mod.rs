//! Stored candles: import, check, repair, generation, export and catalog contents.

pub mod check;
mod contents;
mod export;
mod generate;
mod import;
mod longer_counts;
mod output_file;
mod revised;

pub use contents::CatalogContents;
pub use export::{ExportTerms, Exported, export};
pub use generate::{Defects, GenerateTarget, GenerateTerms, Generated, generate_candles};
pub use import::{ImportTerms, ImportedFile, ReadFile, read_for_catalog};
pub use longer_counts::LongerCounts;
pub use output_file::{Existing, OutputFile};
