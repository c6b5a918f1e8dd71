//! Signals: a strategy's requests for trades.

use crate::{Direction, Expiry, FixedText, Reason};

/// A strategy's request for a trade: direction, reason and optional expiry.
///
/// The stake is set elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Direction of the bet.
    pub direction: Direction,
    /// Override of the bot's expiry for this trade, `None` to keep it.
    pub expiry: Option<Expiry>,
    /// Human-readable reason.
    pub reason: Reason,
    /// Whether the signal is recorded but never traded.
    ///
    /// A strategy that trades only at times reports in this way what it would have done at other
    /// times. The signal is recorded as rejected by the rule `GateClosed`.
    pub is_virtual: bool,
}

impl Signal {
    /// Creates a signal for a trade in `direction`.
    #[inline]
    pub const fn new(direction: Direction, reason: &'static str) -> Self {
        Self::with_reason(direction, Reason::new(reason))
    }

    /// Creates a signal whose reason may be known only at run time.
    #[inline]
    pub const fn with_reason(direction: Direction, reason: Reason) -> Self {
        Self { direction, expiry: None, reason, is_virtual: false }
    }

    /// Creates a bet on a higher price.
    #[inline]
    pub fn buy(reason: impl FixedText) -> Self {
        Self::new(Direction::Buy, reason.text())
    }

    /// Creates a bet on a lower price.
    #[inline]
    pub fn sell(reason: impl FixedText) -> Self {
        Self::new(Direction::Sell, reason.text())
    }

    /// Adds a named number to the reason, up to four.
    ///
    /// A fifth is dropped: `strategy check` and the testkit reject such a signal.
    #[must_use]
    #[inline]
    pub fn with(mut self, name: impl FixedText, value: f64) -> Self {
        self.reason = self.reason.with(name.text(), value);
        self
    }

    /// Marks the signal as never traded, see [`is_virtual`](Self::is_virtual).
    #[must_use]
    pub const fn as_virtual(mut self) -> Self {
        self.is_virtual = true;
        self
    }

    /// Overrides the bot's expiry for this trade.
    #[must_use]
    pub const fn expiring(mut self, expiry: Expiry) -> Self {
        self.expiry = Some(expiry);
        self
    }
}
