//! State of a strategy's signal gate, for display.

use crate::{Direction, Millis};
use serde::Serialize;

/// Description of a gate.
///
/// Signals are [virtual](crate::Signal::as_virtual) while the gate is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateView {
    /// Rule that opens and closes the gate.
    #[serde(skip)]
    pub rule: String,
    /// Number of [warm-up](crate::Strategy::warmup) candles that set the gate's state.
    #[serde(skip)]
    pub history: usize,
    /// State at the last answer, which decided whether that signal was virtual.
    pub before: String,
    /// Current state: `closed: 1 of 2 virtual losses in a row`.
    pub now: String,
    /// Last transition, `None` before the first.
    pub moved: Option<GateMove>,
}

/// A transition of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GateMove {
    /// Close time of the candle at which the gate moved.
    pub at: Millis,
    /// Whether the gate has been open since.
    pub is_open: bool,
    /// Signal whose settlement moved the gate.
    ///
    /// `None` if a new day or the number of signals did.
    pub by: Option<EndedSignal>,
}

/// A settled signal that a gate tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EndedSignal {
    /// Time of the signal.
    pub decided: Millis,
    /// Direction of the signal.
    pub direction: Direction,
    /// Whether the signal won; otherwise it lost.
    pub won: bool,
}
