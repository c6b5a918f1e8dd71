//! Substitute for the full-screen view in builds without the `tui` feature.

use super::Front;
use super::screen::{Screen, Shown};
use crate::failure::Failure;
use crate::log_writer::LogWriter;
use candlewick_runtime::Watcher;

pub(crate) fn check() -> Result<(), Failure> {
    let problem = "--tui is not part of this program: build it with `cargo build --release --features tui`";
    Err(Failure::configuration(problem))
}

pub(super) fn start(screen: Screen, _: &Front<'_>) -> (Vec<Watcher>, Shown) {
    screen.show()
}

pub(super) fn end(_: &LogWriter) {}
