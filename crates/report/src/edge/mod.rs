//! What trades say of an edge, wherever they come from, and what stakes do to the money.

mod independent;
mod ruin_sheet;
mod sample;
mod trades_file;
mod verdict_line;

pub(crate) use independent::{Counts, IndependentFigures};
pub(crate) use ruin_sheet::{RuinSheet, RuinTerms};
pub(crate) use sample::{NamedTrade, Sample};
pub(crate) use trades_file::read_trades;
pub(crate) use verdict_line::{VerdictLine, name_of, words_of};
