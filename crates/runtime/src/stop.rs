//! Why a run ends.

use candlewick_engine::Rule;
use candlewick_sdk::Millis;

/// Why no more trades are opened and the run ends once what is open has settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The time that it was to run is over.
    TimeUp,
    /// The candles end at this moment.
    DataEnds(Millis),
    /// A person pressed Ctrl-C.
    Interrupted,
    /// The system said that it is done: SIGTERM.
    Terminated,
    /// A limit that only a person can lift.
    Limit(Rule),
}

impl Stop {
    /// Whether it came from outside: such a stop bounds the run's patience, and a second one ends it at once.
    pub(crate) const fn is_signal(self) -> bool {
        matches!(self, Self::Interrupted | Self::Terminated)
    }
}
