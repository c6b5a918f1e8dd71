//! Parameters chosen on past candles and tested on those that came after, window by window.
//!
//! [`WindowSettings`] lay out [`Window`]s: a training, a gap, a test. [`WalkForward::step`] searches the training as a
//! [sweep](crate::sweep) would that had nothing else, and runs the best set over the test. Between the two lies the
//! [purge](Course::purge): no trade of the training can still be open when the first of the test is decided. [`joined`]
//! puts the tests of all windows together.

mod course;
mod neighbours;
mod step;
mod window;

pub use course::Course;
pub use neighbours::Robustness;
pub use step::{Chosen, WalkForward, WindowEnd, WindowResult, joined};
pub use window::{Scheme, Window, WindowSettings};
