//! A trade as stored by the venue.

use candlewick_sdk::{Millis, Money, Outcome, Payout};
use candlewick_simulator::{Order, SettledTrade};

#[derive(Clone, Debug)]
pub(super) struct Trade {
    pub(super) id: String,
    pub(super) order: Order,
    /// Arrival time of the order.
    pub(super) request_time: Millis,
    pub(super) open_time: Millis,
    pub(super) open_price: Option<f64>,
    pub(super) close_time: Millis,
    pub(super) payout: Payout,
    pub(super) balance_before: Money,
    pub(super) listed_from: Millis,
    pub(super) ending: Ending,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    Running,
    Settled { trade: SettledTrade, shown_from: Millis },
}

impl Trade {
    pub(super) fn settled_at(&self, now: Millis) -> Option<&SettledTrade> {
        match &self.ending {
            Ending::Settled { trade, shown_from } if *shown_from <= now => Some(trade),
            Ending::Settled { .. } | Ending::Running => None,
        }
    }

    pub(super) fn hidden_return(&self, now: Millis) -> Option<Money> {
        match &self.ending {
            Ending::Settled { trade, shown_from } if *shown_from > now => {
                Some(self.order.stake + trade.profit)
            }
            Ending::Settled { .. } | Ending::Running => None,
        }
    }

    /// Returns `OPEN`, `COMPLETED` or `CANCELLED` (contract 3).
    ///
    /// `PROCESSING` before the order arrives.
    pub(super) fn status(&self, now: Millis) -> &'static str {
        match self.settled_at(now) {
            Some(settled) if settled.outcome == Outcome::Cancelled => "CANCELLED",
            Some(_) => "COMPLETED",
            None if now < self.request_time => "PROCESSING",
            None => "OPEN",
        }
    }

    /// Returns `WON`, `LOST`, `DRAW`, `CANCELLED` or `PENDING`.
    ///
    /// `HOLD` before the order arrives.
    pub(super) fn result(&self, now: Millis) -> &'static str {
        match self.settled_at(now) {
            Some(settled) => settled.outcome.as_str(),
            None if now < self.request_time => "HOLD",
            None => "PENDING",
        }
    }
}
