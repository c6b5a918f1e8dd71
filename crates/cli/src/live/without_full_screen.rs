//! A program that was built without the full-screen view.

use super::Front;
use super::screen::{Screen, Shown};
use crate::failure::Failure;
use crate::log_writer::LogWriter;
use candlewick_runtime::Watcher;

/// Says how to get it.
pub(crate) fn check() -> Result<(), Failure> {
    let problem = "--tui is not part of this program: build it with `cargo build --release --features tui`";
    Err(Failure::configuration(problem))
}

/// Lines take its place.
pub(super) fn start(screen: Screen, _: &Front<'_>) -> (Vec<Watcher>, Shown) {
    screen.show()
}

/// There is nothing to give back.
pub(super) fn end(_: &LogWriter) {}
