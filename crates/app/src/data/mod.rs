//! Stored candles: import, check, repair, generation, export and catalog contents.

pub mod check;
mod contents;
mod export;
mod generate;
mod import;

pub use contents::{CatalogContents, LongerCounts};
pub use export::{Existing, ExportTerms, Exported, OutputFile, export};
pub use generate::{Defects, GenerateTarget, GenerateTerms, Generated, generate_candles};
pub use import::{ImportTerms, ImportedFile, ReadFile, read_for_catalog};
