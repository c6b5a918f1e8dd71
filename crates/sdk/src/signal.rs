//! Signals (a strategy's requests for trades) and the settlements of the trades.

use crate::{Expiry, Millis, Money, Reason};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A strategy's request for a trade: direction, reason and optional expiry. The bot decides the stake.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Direction of the bet.
    pub direction: Direction,
    /// Expiry of this trade, `None` for the bot's default expiry.
    pub expiry: Option<Expiry>,
    /// Human-readable reason for the trade.
    pub reason: Reason,
    /// Whether the signal is recorded but never traded.
    ///
    /// Virtual signals show what a paused strategy would have done. The rule `GateClosed` rejects each virtual signal.
    pub is_virtual: bool,
}

impl Signal {
    /// Creates a signal for a trade in `direction`.
    #[inline]
    pub const fn new(direction: Direction, reason: &'static str) -> Self {
        Self::with_reason(direction, Reason::new(reason))
    }

    /// Creates a signal with a ready-made reason, for example from a [`ReasonTemplate`](crate::ReasonTemplate).
    #[inline]
    pub const fn with_reason(direction: Direction, reason: Reason) -> Self {
        Self { direction, expiry: None, reason, is_virtual: false }
    }

    /// Creates a bet on a higher price. The bet wins if the close price is above the open price.
    #[inline]
    pub fn buy(reason: impl StaticText) -> Self {
        Self::new(Direction::Buy, reason.text())
    }

    /// Creates a bet on a lower price. The bet wins if the close price is below the open price.
    #[inline]
    pub fn sell(reason: impl StaticText) -> Self {
        Self::new(Direction::Sell, reason.text())
    }

    /// Adds a named number to the reason. Numbers after the fourth are dropped, and `strategy check` then fails.
    #[must_use]
    #[inline]
    pub fn with(mut self, name: impl StaticText, value: f64) -> Self {
        self.reason = self.reason.with(name.text(), value);
        self
    }

    /// Marks the signal as [virtual](Self::is_virtual): recorded, but never traded.
    #[must_use]
    pub const fn as_virtual(mut self) -> Self {
        self.is_virtual = true;
        self
    }

    /// Overrides the bot's expiry for this trade.
    #[must_use]
    pub const fn with_expiry(mut self, expiry: Expiry) -> Self {
        self.expiry = Some(expiry);
        self
    }
}

/// Static text for the reason of a [`Signal`] or the name of a number, usually a string literal.
///
/// Static text avoids allocations per candle. For a text known only at run time, create a
/// [`ReasonTemplate`](crate::ReasonTemplate) once, when the strategy is built.
#[diagnostic::on_unimplemented(
    message = "the text of a signal must be static, but `{Self}` is built at run time",
    label = "use a literal: `Signal::buy(\"rose\")`",
    note = "add values that differ from candle to candle as named numbers: `Signal::buy(\"rose\").with(\"change\", change)`",
    note = "for a text known only at run time, create a `ReasonTemplate` in `build` and use it: `Signal::with_reason(direction, template.with_numbers(&[change]))`"
)]
pub trait StaticText {
    /// Returns the text.
    fn text(self) -> &'static str;
}

impl StaticText for &'static str {
    #[inline]
    fn text(self) -> &'static str {
        self
    }
}

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
    /// Returns the name that the venue uses, such as `BUY`.
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
    /// All outcomes in the order of declaration.
    pub const ALL: [Self; 4] = [Self::Won, Self::Lost, Self::Draw, Self::Cancelled];

    /// Returns the name that the venue uses, such as `WON`.
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

/// Result of one of the bot's trades, passed to [`Strategy::on_settled`](crate::Strategy::on_settled).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settlement {
    /// Direction of the bet.
    pub direction: Direction,
    /// Time of the signal.
    pub decision_time: Millis,
    /// Outcome of the trade.
    pub outcome: Outcome,
    /// Net profit: positive for a win, the negative stake for a loss, otherwise zero.
    pub profit: Money,
}
