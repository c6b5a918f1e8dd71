//! What trades say of an edge, wherever they come from.

mod independent;
mod sample;
mod trades_file;

pub(crate) use independent::{Counts, IndependentFigures};
pub(crate) use sample::{NamedTrade, Sample};
pub(crate) use trades_file::read_trades;
