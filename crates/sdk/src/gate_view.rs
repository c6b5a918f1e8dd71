//! How a gate before a strategy's signals stands, as people are told.

use crate::{Direction, Millis};
use serde::Serialize;

/// A gate in words: while it is closed signals are [virtual](crate::Signal::as_virtual).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateView {
    /// What opens and closes it.
    #[serde(skip)]
    pub rule: String,
    /// How many candles of the [warm-up](crate::Strategy::warmup) are those from which it learns how it stands.
    #[serde(skip)]
    pub history: usize,
    /// How it stood when the strategy last answered a candle: what decided whether that signal was virtual.
    pub before: String,
    /// How it stands now: `closed: 1 of 2 virtual losses in a row`.
    pub now: String,
    /// What opened or closed it last; none before it first moved.
    pub moved: Option<GateMove>,
}

/// When a gate opened or closed, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GateMove {
    /// The close of the candle at which it moved.
    pub at: Millis,
    /// Whether it has been open since.
    pub is_open: bool,
    /// The signal whose end moved it; none where a new day or the count of signals did.
    pub by: Option<EndedSignal>,
}

/// A signal that a gate followed to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EndedSignal {
    /// When it was given.
    pub decided: Millis,
    /// Its direction.
    pub direction: Direction,
    /// Whether it won; else it lost.
    pub won: bool,
}
