//! Benchmark of backtests, relative to hand-written loops that make the same trades.

mod memory;
mod process;
mod processor;
mod round;

pub use memory::Held;
pub use process::{WholeProcess, floor_of_file};
pub use processor::Processor;
pub use round::{Measured, Spread, measure};
