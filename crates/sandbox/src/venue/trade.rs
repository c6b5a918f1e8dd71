//! A trade as the venue keeps it.

use candlewick_sdk::{Millis, Money, Outcome, Payout};
use candlewick_simulator::{Order, SettledTrade};

/// An accepted order.
#[derive(Clone, Debug)]
pub(super) struct Trade {
    pub(super) id: String,
    pub(super) order: Order,
    /// When the order arrived.
    pub(super) request_time: Millis,
    pub(super) open_time: Millis,
    pub(super) open_price: Option<f64>,
    pub(super) close_time: Millis,
    pub(super) payout: Payout,
    /// The wallet before the stake was taken.
    pub(super) balance_before: Money,
    /// From when it is seen in lists and by id.
    pub(super) listed_from: Millis,
    pub(super) ending: Ending,
}

/// How far a trade is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    Running,
    /// Settled at the venue; shown from a moment on.
    Settled {
        trade: SettledTrade,
        shown_from: Millis,
    },
}

impl Trade {
    /// The settlement, once it is shown.
    pub(super) fn settled_at(&self, now: Millis) -> Option<&SettledTrade> {
        match &self.ending {
            Ending::Settled { trade, shown_from } if *shown_from <= now => Some(trade),
            Ending::Settled { .. } | Ending::Running => None,
        }
    }

    /// What a settlement that is not shown yet has already brought to the wallet.
    pub(super) fn hidden_return(&self, now: Millis) -> Option<Money> {
        match &self.ending {
            Ending::Settled { trade, shown_from } if *shown_from > now => {
                Some(self.order.stake + trade.profit)
            }
            Ending::Settled { .. } | Ending::Running => None,
        }
    }

    /// `OPEN`, `COMPLETED` or `CANCELLED` (contract 3), and `PROCESSING` before the order has arrived.
    pub(super) fn status(&self, now: Millis) -> &'static str {
        match self.settled_at(now) {
            Some(settled) if settled.outcome == Outcome::Cancelled => "CANCELLED",
            Some(_) => "COMPLETED",
            None if now < self.request_time => "PROCESSING",
            None => "OPEN",
        }
    }

    /// `WON`, `LOST`, `DRAW`, `CANCELLED`; before, `PENDING`, and `HOLD` before the order has arrived.
    pub(super) fn result(&self, now: Millis) -> &'static str {
        match self.settled_at(now) {
            Some(settled) => settled.outcome.as_str(),
            None if now < self.request_time => "HOLD",
            None => "PENDING",
        }
    }
}
