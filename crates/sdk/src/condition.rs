//! Conditions and signal gate of a strategy, for display.

use crate::{Direction, Millis};
use serde::Serialize;
use std::borrow::Cow;

/// A condition of a strategy, with its state after the last candle.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition<'a> {
    /// Path of the sub-strategy or filter that contains the condition, such as `outer.dip`.
    /// Empty if the condition belongs to the strategy itself.
    pub part_path: Cow<'a, str>,
    /// Decision that depends on the condition, such as a buy signal.
    pub role: ConditionRole,
    /// Nesting depth: 0 for a whole condition, 1 for the operands of its `and` or `or`, and so on.
    /// In a list of conditions, the operands come right after the condition that contains them.
    pub depth: usize,
    /// Condition as text, such as `rsi(14) < 30`.
    pub text: &'a str,
    /// Whether the condition is met. `None` if the state is unknown, or if a filter has no signal to check.
    pub is_met: Option<bool>,
    /// Names and values of the numbers in the condition. NaN marks a missing value.
    /// Empty if the numbers are listed with the operands.
    pub numbers: &'a [(String, f64)],
    /// Additional explanation of the state. May be empty.
    pub note: String,
}

/// Kind of decision that depends on a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionRole {
    /// Signal that bets on a higher price.
    Buy,
    /// Signal that bets on a lower price.
    Sell,
    /// Direction that several sub-strategies chose by vote.
    Vote,
    /// Signal of the first sub-strategy that gives a signal.
    FirstOf,
    /// Signal of one sub-strategy in a combination.
    Part,
    /// Acceptance of a signal by a filter.
    Filter,
}

impl ConditionRole {
    /// Returns the name of the decision in configurations and reports.
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

/// State of a signal gate. While the gate is closed, signals are [virtual](crate::Signal::as_virtual) (never traded).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateSnapshot {
    /// Rule that opens and closes the gate.
    #[serde(skip)]
    pub rule: String,
    /// Number of [warm-up](crate::Strategy::warmup) candles needed to determine whether the gate is open.
    #[serde(skip)]
    pub history: usize,
    /// State before the last candle's signal. If the gate was closed, that signal is virtual.
    pub before: String,
    /// Current state, such as `closed: 1 of 2 virtual losses in a row`.
    pub now: String,
    /// Last opening or closing of the gate, `None` if the gate has not moved yet.
    pub moved: Option<GateTransition>,
}

/// An opening or closing of a signal gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GateTransition {
    /// Close time of the candle that opened or closed the gate.
    pub at: Millis,
    /// `true` if the gate opened, `false` if the gate closed.
    pub is_open: bool,
    /// Signal whose settlement opened or closed the gate. `None` if a new day or the signal count moved the gate.
    pub by: Option<SettledSignal>,
}

/// A settled signal that a signal gate counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SettledSignal {
    /// Time of the signal.
    pub decided: Millis,
    /// Direction of the signal.
    pub direction: Direction,
    /// `true` if the signal won, `false` if the signal lost.
    pub won: bool,
}
