//! Walk-forward analysis: parameters chosen on past candles and tested on later ones.
//!
//! [`WindowSettings`] define the [`Window`]s, each with a training range, a gap and a test range.
//! [`WalkForward::run_window`] searches the training range like a [sweep](crate::sweep), without access to other
//! data. The best set then runs over the test range. The gap is at least the [purge](WalkForwardData::purge_gap), so that
//! no training trade is open at the first test decision. [`join_tests`] combines the tests of all windows.

mod course;
mod step;
mod window;

pub use course::WalkForwardData;
pub use step::{ChosenSet, Robustness, WalkForward, WindowOutcome, WindowResult, join_tests};
pub use window::{Window, WindowScheme, WindowSettings};
