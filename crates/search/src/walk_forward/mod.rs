//! Walk-forward analysis: parameters chosen on past candles and tested on later ones.
//!
//! [`WindowSettings`] define the [`Window`]s, each with a training range, a gap and a test range.
//! [`WalkForward::step`] searches the training range like a [sweep](crate::sweep), without access to other
//! data. The best set then runs over the test range. The gap is at least the [purge](Course::purge), so that
//! no training trade is open at the first test decision. [`joined`] combines the tests of all windows.

mod course;
mod step;
mod window;

pub use course::Course;
pub use step::{ChosenSet, Robustness, WalkForward, WindowEnd, WindowResult, joined};
pub use window::{Scheme, Window, WindowSettings};
