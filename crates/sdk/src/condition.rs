//! A condition that a strategy goes by and how it stands, as people are told.

use std::borrow::Cow;

/// One of the conditions that a strategy goes by, as it stood when that last answered a candle.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition<'a> {
    /// The part or filter of a combination that has it, behind those that it is inside of: `outer.dip`; empty where the strategy has
    /// it itself.
    pub part: Cow<'a, str>,
    /// What it decides.
    pub side: ConditionSide,
    /// 0 for the whole condition, 1 for what `and` or `or` joins in it, and so on. Its parts stand behind it, one deeper.
    pub depth: usize,
    /// What it says.
    pub text: &'a str,
    /// Whether it holds; none where that is not known yet, and for a filter where there is no signal.
    pub holds: Option<bool>,
    /// The numbers in it, by name: none where its parts have them. NaN is a number that is missing.
    pub numbers: &'a [(String, f64)],
    /// More about how it stands, in words; empty where there is no more.
    pub note: String,
}

/// What a condition decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionSide {
    /// Whether to bet on a higher price.
    Buy,
    /// Whether to bet on a lower price.
    Sell,
    /// Whether the parts of a vote come to a direction.
    Vote,
    /// Whether a part signals, of parts of which the first decides.
    FirstOf,
    /// Whether a part of a combination is for a direction.
    Part,
    /// Whether a filter lets a signal pass.
    Filter,
}

impl ConditionSide {
    /// As configurations and reports name it.
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
