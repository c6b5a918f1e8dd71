//! Conditions of a strategy and their current state, for display.

use std::borrow::Cow;

/// A condition of a strategy, as of the last candle it processed.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition<'a> {
    /// Path of the combination's part or filter, such as `outer.dip`.
    ///
    /// Empty if the condition belongs to the strategy itself.
    pub part: Cow<'a, str>,
    /// Decision that depends on the condition.
    pub side: ConditionSide,
    /// Nesting depth, 0 for the whole condition.
    ///
    /// The operands of its `and` or `or` have depth 1, and so on. Operands follow their condition.
    pub depth: usize,
    /// Text of the condition.
    pub text: &'a str,
    /// Whether the condition is met.
    ///
    /// `None` if that is not known yet, and for a filter without a signal.
    pub holds: Option<bool>,
    /// Numbers of the condition by name, NaN if missing.
    ///
    /// Empty if its operands list them.
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
    /// Signal of the first part that gives one.
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
