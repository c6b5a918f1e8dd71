//! Elapsed real time, for display and rates; never an input to a decision.

use std::time::{Duration, Instant};

/// A stopwatch for real time.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts the stopwatch.
    #[allow(clippy::disallowed_methods)] // this module is the clock
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the real time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
