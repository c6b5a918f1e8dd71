//! Reasons for ending a run.

use candlewick_engine::Rule;
use candlewick_sdk::Millis;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    TimeUp,
    DataEnds(Millis),
    Interrupted,
    Terminated,
    Limit(Rule),
}

impl Stop {
    /// Returns whether the stop came from outside.
    ///
    /// Such a stop limits the run's patience, and a second one ends it at once.
    pub(crate) const fn is_signal(self) -> bool {
        matches!(self, Self::Interrupted | Self::Terminated)
    }
}
