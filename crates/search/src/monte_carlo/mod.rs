//! Histories that could have been: trades or candles of one run in another order, block by block, and what each comes to.
//!
//! [`MonteCarlo::trades`] draws the trades of the run and keeps their stakes and profits. [`MonteCarlo::candles`] draws the candles, and the
//! strategies decide anew on each path. A path is a pure function of seed and number, so that any part of them can run anywhere.

mod candles;
mod path;
mod run;
mod trades;

pub use candles::{ResampledCandles, UnalikeCandles};
pub use path::PathRow;
pub use run::{MonteCarlo, PathWatcher};
pub use trades::{ObservedTrade, observed_trades};
