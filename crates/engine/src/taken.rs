//! Trades that are not what was ordered: what the venue took counts.

use crate::{IntentId, OrderTerms, TradeBook};
use candlewick_sdk::{Direction, Money, Text};
use serde::{Deserialize, Serialize};

/// A pair as the venue writes it.
pub type VenueSymbol = Text<31>;

/// What the venue took, where that is not what was ordered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// The pair, where it is another than the one that was ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<VenueSymbol>,
    /// Up or down.
    pub direction: Direction,
    /// The amount that is at stake.
    pub stake: Money,
}

/// What was ordered of a trade that the venue took otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Departure {
    /// What was asked for.
    pub ordered: OrderTerms,
    /// The pair that the venue took, where it is another.
    pub symbol: Option<VenueSymbol>,
}

impl Taken {
    /// Whether it is another bet than one in this direction on what was ordered: how it ends says nothing of the strategy.
    pub(crate) fn is_another_bet(&self, direction: Direction) -> bool {
        self.symbol.is_some() || self.direction != direction
    }
}

impl TradeBook {
    /// What was ordered, of an intent whose trade is not that; its row has what the venue took.
    pub fn departure(&self, intent: IntentId) -> Option<&Departure> {
        self.departures.get(&intent)
    }

    /// The venue took something else: the row shows that from here on.
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
