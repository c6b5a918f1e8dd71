//! Up or down.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What a trade bets on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Direction {
    /// The close price will be above the open price.
    Buy,
    /// The close price will be below the open price.
    Sell,
}

/// Why a text is not a [`Direction`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a direction: use BUY or SELL")]
pub struct DirectionError {
    text: String,
}

impl Direction {
    /// As the venue writes it (`observed: values`).
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Buy => "BUY",
            Self::Sell => "SELL",
        }
    }

    /// The other one.
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
