//! How a trade ended, as its strategy sees it.

use crate::{Direction, Millis, Money};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The final outcome of a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Outcome {
    /// The bet was right: stake and profit return.
    Won,
    /// The bet was wrong: the stake is gone.
    Lost,
    /// Equal prices: the stake returns.
    Draw,
    /// The venue called it off: the stake returns.
    Cancelled,
}

impl Outcome {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Won, Self::Lost, Self::Draw, Self::Cancelled];

    /// As the venue writes it (`observed: values`).
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Won => "WON",
            Self::Lost => "LOST",
            Self::Draw => "DRAW",
            Self::Cancelled => "CANCELLED",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One of the bot's own trades has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settlement {
    /// The bet.
    pub direction: Direction,
    /// When the signal was given.
    pub decision_time: Millis,
    /// How it ended.
    pub outcome: Outcome,
    /// Net profit: positive for a win, minus the stake for a loss, else zero.
    pub profit: Money,
}
