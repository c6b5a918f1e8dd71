//! Candle files as text: one header, one candle per line.
//!
//! The format is fixed and purely numeric, so nothing is ever quoted. Lines are split by hand: line
//! numbers in messages stay exact with `\r\n` and blank lines, and a stray quote cannot swallow the
//! rest of a file.

mod read;
mod write;

pub use read::{Progress, no_progress, read_csv, read_csv_file};
#[cfg(feature = "import")]
pub(crate) use read::{Watched, content_of, excerpt};
pub use write::{write_csv, write_csv_file};

pub const CSV_HEADER: &str = "time,open,high,low,close,volume";
