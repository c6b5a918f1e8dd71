//! Historical candles: files, catalog, import, checks and generation.

mod cache;
mod catalog;
#[cfg(feature = "import")]
mod check;
mod csv;
mod disk;
mod error;
mod gap;
mod generate;
mod hash;
#[cfg(feature = "import")]
mod import;
mod in_step;
mod market;
mod parquet;
mod resample;
mod source;

pub use cache::FileCache;
pub use catalog::{
    AppendCounts, Catalog, EmptyHours, Manifest, Origin, Provenance, Revision, Segment, Version,
};
#[cfg(feature = "import")]
pub use check::{
    CheckSettings, CheckedSeries, ConflictChoice, Finding, FindingKind, Findings, MarketHours,
    ParseMarketHoursError, Remedy, RepairedSeries, WeeklyHours, check_bytes, check_file, check_series,
    check_series_agreement, count_candles_in_closed_hours, count_missing_candles,
};
pub use csv::{CSV_HEADER, Progress, ignore_progress, read_csv, read_csv_file, write_csv, write_csv_file};
pub use disk::{remove_partial_files, write_whole_file};
pub use error::{HistoryError, ParseChoiceError};
pub use gap::{Gap, gaps};
#[cfg(feature = "import")]
pub use generate::{BadRows, with_gaps};
pub use generate::{GenerateSettings, ParseRegimeError, Regime, generate};
pub use hash::{HashedSeries, combine_series_hashes, data_hash, series_hash};
#[cfg(feature = "import")]
pub use import::{
    BarTime, ClockChange, ColumnRoles, DateOrder, DecimalMark, Delimiter, ImportFormat, ImportSettings,
    ImportedSeries, ParseTableOptionError, ParseZoneError, TableSettings, ValueSource, Zone, import_bytes,
    import_file,
};
pub use in_step::{MismatchKind, SeriesMismatch, series_mismatches};
pub use market::{
    AssetType, KnownMarket, currency_pair, expected_asset_type, is_currency_pair, is_known_asset_code,
    known_market,
};
pub use parquet::{read_parquet, read_parquet_file, write_parquet_file};
pub use resample::{ResampledSeries, count_resampled_candles, resample, resample_with_coverage};
pub use source::{CandleFile, CandleFormat};
