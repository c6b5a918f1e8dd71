//! What a backtest costs on this machine, as multiples of loops written by hand for the same trades.

mod memory;
mod process;
mod round;

pub(crate) use memory::Held;
pub(crate) use process::{WholeProcess, floor_of_file};
pub(crate) use round::{Measured, Spread, measure};
