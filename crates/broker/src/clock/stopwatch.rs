//! Elapsed real time, for people and rates; never an input to a decision.

use std::time::{Duration, Instant};

/// Measures real time from its making.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[allow(clippy::disallowed_methods)] // this module is the clock
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Real time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
