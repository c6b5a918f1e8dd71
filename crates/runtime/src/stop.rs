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
    /// Ctrl-C or SIGTERM.
    Interrupted,
    /// A limit that only a person can lift.
    Limit(Rule),
}
