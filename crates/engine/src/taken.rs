//! Trades with other terms than ordered. The terms that the venue took count.

use crate::{IntentId, OrderTerms, TradeBook};
use candlewick_sdk::{Direction, Money, Text};
use serde::{Deserialize, Serialize};

/// A pair in the notation of the venue.
pub type VenueSymbol = Text<31>;

/// The terms that the venue took, if they differ from the order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// Pair, if it differs from the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<VenueSymbol>,
    /// Direction of the trade.
    pub direction: Direction,
    /// Stake of the trade.
    pub stake: Money,
}

/// The order behind a trade that the venue took with other terms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Departure {
    /// Ordered terms.
    pub ordered: OrderTerms,
    /// Pair that the venue took, if it differs from the order.
    pub symbol: Option<VenueSymbol>,
}

impl Taken {
    /// Returns whether pair or direction differ from the order. The outcome is then no evidence
    /// about the strategy.
    pub(crate) fn is_another_bet(&self, direction: Direction) -> bool {
        self.symbol.is_some() || self.direction != direction
    }
}

impl TradeBook {
    /// Returns the order of an intent if the venue took other terms.
    ///
    /// The row of the intent has the terms that the venue took.
    pub fn departure(&self, intent: IntentId) -> Option<&Departure> {
        self.departures.get(&intent)
    }

    pub(crate) fn record_taken(&mut self, intent: IntentId, taken: &Taken, place: u32) {
        let Some(row) = self.row_mut(intent) else { return };
        let before = row.approved;
        if taken.is_another_bet(before.direction()) && row.sequence.left_out == 0 {
            row.sequence.left_out = place;
        }
        row.approved = before.as_taken(taken);
        let departure = Departure { ordered: before, symbol: taken.symbol };
        self.departures.entry(intent).or_insert(departure).symbol = taken.symbol;
    }
}
