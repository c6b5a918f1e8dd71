//! Parquet candles: `time` (whole milliseconds, UTC), `open`, `high`, `low`, `close`, `volume`.

mod read;
#[cfg(feature = "import")]
mod texts;
mod write;

#[cfg(feature = "import")]
pub(crate) use read::read_rows;
pub(crate) use read::{Table, read_table};
pub use read::{read_parquet, read_parquet_file};
#[cfg(feature = "import")]
pub(crate) use texts::read_texts;
pub(crate) use write::to_parquet;
pub use write::{write_parquet, write_parquet_file};

const COLUMNS: [&str; 6] = ["time", "open", "high", "low", "close", "volume"];
