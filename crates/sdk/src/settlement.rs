//! Settlements as reported to a strategy.

use crate::{Direction, Millis, Money};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Final outcome of a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Outcome {
    /// The bet was right: stake and profit are paid out.
    Won,
    /// The bet was wrong: the stake is lost.
    Lost,
    /// Equal prices: the stake is returned.
    Draw,
    /// Cancelled by the venue: the stake is returned.
    Cancelled,
}

impl Outcome {
    /// All outcomes in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Won, Self::Lost, Self::Draw, Self::Cancelled];

    /// Returns the venue's spelling (`observed: values`).
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

/// Settlement of one of the bot's own trades.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settlement {
    /// Direction of the bet.
    pub direction: Direction,
    /// Time of the signal.
    pub decision_time: Millis,
    /// Outcome of the trade.
    pub outcome: Outcome,
    /// Net profit: positive for a win, minus the stake for a loss, otherwise zero.
    pub profit: Money,
}
