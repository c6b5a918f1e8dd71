//! Trades, intents and figures in tables of their own, projected from the entries: for people and other programs, in plain columns.
//! Nothing that trades reads them, and nothing waits for them.

mod projector;
mod read;
mod record;
mod write;

pub use projector::{IntentRows, ProjectionEnd, Projector, RunNames};
pub use read::Tables;
pub use record::{DayFigures, IntentRecord, figures_of};

/// The number of the form of the tables: raised with every change of what a row holds or means. Tables of another form are made
/// anew.
pub(crate) const FORMAT: i64 = 1;

/// The schema that brought the tables.
pub(crate) const TABLES_SINCE: i64 = 4;
