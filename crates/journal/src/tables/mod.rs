//! Tables of trades, intents and figures, projected from the entries for operators and other
//! programs.
//!
//! Trading never reads them and never waits for them.

mod projector;
mod read;
mod record;
mod write;

pub use projector::{IntentRows, ProjectionEnd, Projector, RunNames};
pub use read::Tables;
pub use record::{DayFigures, IntentRecord, figures_of};

/// Format of the tables. Increase it with every change: old tables are rebuilt.
pub(crate) const FORMAT: i64 = 1;

pub(crate) const TABLES_SINCE: i64 = 4;
