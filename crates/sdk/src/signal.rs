//! A strategy's signal: the trade that it asks for.

use crate::{Direction, Expiry, FixedText, Reason};

/// What a strategy answers when it wants a trade: a direction and a short reason, perhaps an expiry other than its bot's.
/// The stake is not its business.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Up or down.
    pub direction: Direction,
    /// An expiry that replaces the bot's own for this trade.
    pub expiry: Option<Expiry>,
    /// Why, for people.
    pub reason: Reason,
    /// Whether it is never traded: a strategy that trades only at times says what it would have done at others. It is recorded as refused by
    /// the rule `GateClosed`.
    pub is_virtual: bool,
}

impl Signal {
    /// A signal for a trade in `direction`.
    #[inline]
    pub const fn new(direction: Direction, reason: &'static str) -> Self {
        Self::with_reason(direction, Reason::new(reason))
    }

    /// A signal for a trade in `direction`, for a reason whose words may be known only at run time.
    #[inline]
    pub const fn with_reason(direction: Direction, reason: Reason) -> Self {
        Self { direction, expiry: None, reason, is_virtual: false }
    }

    /// A bet on a higher price.
    #[inline]
    pub fn buy(reason: impl FixedText) -> Self {
        Self::new(Direction::Buy, reason.text())
    }

    /// A bet on a lower price.
    #[inline]
    pub fn sell(reason: impl FixedText) -> Self {
        Self::new(Direction::Sell, reason.text())
    }

    /// Adds a named number to the reason, which has room for four. A fifth is left out: `strategy check` and the testkit fail a signal
    /// that has one.
    #[must_use]
    #[inline]
    pub fn with(mut self, name: impl FixedText, value: f64) -> Self {
        self.reason = self.reason.with(name.text(), value);
        self
    }

    /// The same, never traded: see [`is_virtual`](Self::is_virtual).
    #[must_use]
    pub const fn as_virtual(mut self) -> Self {
        self.is_virtual = true;
        self
    }

    /// Replaces the bot's expiry for this trade.
    #[must_use]
    pub const fn expiring(mut self, expiry: Expiry) -> Self {
        self.expiry = Some(expiry);
        self
    }
}
