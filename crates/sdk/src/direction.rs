//! Direction of a bet.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Direction of a bet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Direction {
    /// Bet on a close price above the open price.
    Buy,
    /// Bet on a close price below the open price.
    Sell,
}

/// Parse error of a [`Direction`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a direction: use BUY or SELL")]
pub struct DirectionError {
    text: String,
}

impl Direction {
    /// Returns the venue's spelling (`observed: values`).
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Buy => "BUY",
            Self::Sell => "SELL",
        }
    }

    /// Returns the opposite direction.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Buy => Self::Sell,
            Self::Sell => Self::Buy,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Direction {
    type Err = DirectionError;
    fn from_str(text: &str) -> Result<Self, DirectionError> {
        match text {
            "BUY" => Ok(Self::Buy),
            "SELL" => Ok(Self::Sell),
            _ => Err(DirectionError { text: text.chars().take(32).collect() }),
        }
    }
}
