//! State of a strategy for display: its conditions and its signal gate.

use crate::{Direction, Millis};
use serde::Serialize;
use std::borrow::Cow;

/// A condition of a strategy, as of the last candle it processed.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition<'a> {
    /// Path of a part or filter within a combination, such as `outer.dip`.
    /// Empty if the condition belongs to the strategy itself.
    pub part: Cow<'a, str>,
    /// Decision that depends on the condition.
    pub side: ConditionSide,
    /// Nesting depth, 0 for the whole condition.
    /// The operands of its `and` or `or` have depth 1, and so on. Operands follow their condition.
    pub depth: usize,
    /// Text of the condition.
    pub text: &'a str,
    /// Whether the condition is met. `None` if unknown, or for a filter if there is no signal.
    pub holds: Option<bool>,
    /// Named numbers of the condition, NaN if missing. Empty if its operands list them.
    pub numbers: &'a [(String, f64)],
    /// Additional explanation of the state, may be empty.
    pub note: String,
}

/// Decision that depends on a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionSide {
    /// Bet on a higher price.
    Buy,
    /// Bet on a lower price.
    Sell,
    /// Direction of a vote.
    Vote,
    /// First part that gives a signal.
    FirstOf,
    /// Direction of a single part of a combination.
    Part,
    /// Filter of signals.
    Filter,
}

impl ConditionSide {
    /// Returns the name used in configurations and reports.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Buy => "buy",
            Self::Sell => "sell",
            Self::Vote => "vote",
            Self::FirstOf => "first_of",
            Self::Part => "part",
            Self::Filter => "filter",
        }
    }
}

/// Description of a gate. Signals are [virtual](crate::Signal::as_virtual) while the gate is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateView {
    /// Rule that opens and closes the gate.
    #[serde(skip)]
    pub rule: String,
    /// Number of [warm-up](crate::Strategy::warmup) candles that determine the gate's state.
    #[serde(skip)]
    pub history: usize,
    /// State at the last answer. It decided whether the signal was virtual.
    pub before: String,
    /// Current state, such as `closed: 1 of 2 virtual losses in a row`.
    pub now: String,
    /// Last transition, `None` before the first.
    pub moved: Option<GateMove>,
}

/// A transition of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GateMove {
    /// Close time of the candle that moved the gate.
    pub at: Millis,
    /// Whether the transition opened the gate; otherwise it closed it.
    pub is_open: bool,
    /// Signal whose settlement moved the gate. `None` if a new day or the signal count moved it.
    pub by: Option<SettledSignal>,
}

/// A settled signal that a gate tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SettledSignal {
    /// Time of the signal.
    pub decided: Millis,
    /// Direction of the signal.
    pub direction: Direction,
    /// Whether the signal won; otherwise it lost.
    pub won: bool,
}
