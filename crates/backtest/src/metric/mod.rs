//! Figures of a run, one file each.

mod drawdown;
mod losing_streak;

pub use drawdown::{Drawdown, max_drawdown};
pub use losing_streak::longest_losing_streak;
