//! What trades say of an edge, wherever they come from, and what stakes do to the money.

mod independent;
mod ruin_sheet;
mod sample;
mod trades_file;
mod verdict_line;

pub use independent::{Counts, IndependentFigures};
pub use ruin_sheet::{RuinSheet, RuinTerms};
pub use sample::{NamedTrade, Sample};
pub use trades_file::read_trades;
pub use verdict_line::{VerdictLine, name_of, words_of};
