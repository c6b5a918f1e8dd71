//! Approved trades. Only approved trades can be opened.

use super::Proposal;
use crate::{BotId, IntentId, SymbolId, VenueTerms};
use candlewick_sdk::{Direction, Expiry, Millis, Money, Reason};
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// A trade that passed every rule.
/// Only the risk rules approve trades. A trade decoded from the journal of an earlier run is tracked but never opened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApprovedTrade {
    #[serde(flatten)]
    terms: OrderTerms,
    reason: Reason,
}

/// The terms of an [`ApprovedTrade`], without the reason, to save memory in long lists.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderTerms {
    intent: IntentId,
    bot: BotId,
    symbol: SymbolId,
    direction: Direction,
    expiry: Expiry,
    stake: Money,
    decision_time: Millis,
}

impl ApprovedTrade {
    #[inline]
    pub(super) fn new(proposal: &Proposal<'_>, intent: IntentId) -> Self {
        Self { terms: OrderTerms::new(proposal, intent), reason: proposal.reason.clone() }
    }

    /// Restores a trade that an earlier run approved. Such a trade is tracked as unfinished but never opened.
    pub(crate) const fn from_record(
        intent: IntentId,
        (bot, symbol): (BotId, SymbolId),
        (direction, expiry, stake): (Direction, Expiry, Money),
        decision_time: Millis,
        reason: Reason,
    ) -> Self {
        Self { terms: OrderTerms { intent, bot, symbol, direction, expiry, stake, decision_time }, reason }
    }

    /// Returns the terms of the order.
    pub const fn terms(&self) -> &OrderTerms {
        &self.terms
    }

    /// Returns the reason for the signal.
    pub const fn reason(&self) -> &Reason {
        &self.reason
    }
}

impl Deref for ApprovedTrade {
    type Target = OrderTerms;

    fn deref(&self) -> &OrderTerms {
        &self.terms
    }
}

impl OrderTerms {
    #[inline]
    pub(super) const fn new(proposal: &Proposal<'_>, intent: IntentId) -> Self {
        Self {
            intent,
            bot: proposal.bot,
            symbol: proposal.symbol,
            direction: proposal.direction,
            expiry: proposal.expiry,
            stake: proposal.stake,
            decision_time: proposal.at,
        }
    }

    pub(crate) const fn with_intent(self, intent: IntentId) -> Self {
        Self { intent, ..self }
    }

    pub(crate) const fn with_bot_and_symbol(self, bot: BotId, symbol: SymbolId) -> Self {
        Self { bot, symbol, ..self }
    }

    /// Returns the terms with direction and stake as accepted by the venue.
    #[must_use]
    pub const fn with_venue_terms(self, taken: &VenueTerms) -> Self {
        Self { direction: taken.direction, stake: taken.stake, ..self }
    }

    /// Returns the id of the intent.
    pub const fn intent(&self) -> IntentId {
        self.intent
    }

    /// Returns the bot that opens the trade.
    pub const fn bot(&self) -> BotId {
        self.bot
    }

    /// Returns the symbol of the trade.
    pub const fn symbol(&self) -> SymbolId {
        self.symbol
    }

    /// Returns the direction of the trade.
    pub const fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns the expiry of the trade.
    pub const fn expiry(&self) -> Expiry {
        self.expiry
    }

    /// Returns the stake of the trade.
    pub const fn stake(&self) -> Money {
        self.stake
    }

    /// Returns the time of the signal.
    pub const fn decision_time(&self) -> Millis {
        self.decision_time
    }
}
