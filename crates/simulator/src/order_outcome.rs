//! What becomes of an order that the wallet covers: whether it opens, and how its trade ends.
#![allow(
    clippy::inline_always,
    reason = "an outcome is written into its queue directly: see docs/performance.md"
)]

use crate::event::SettledTrade;
use crate::moments::Moments;
use crate::order::{AnswerKind, Opening, Order, Refusal};
use crate::outcome::{outcome_of, profit_of};
use crate::path::{PricePath, Priced, Quote};
use crate::settings::SimulationSettings;
use candlewick_sdk::{Direction, ExpirationType, Millis, Outcome};

/// The outcome of one order, decided from both of its prices at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OrderOutcome {
    /// No trade.
    Refused(Refusal),
    /// A trade that settles.
    Settles(Opening, SettledTrade),
    /// A trade that this data never ends: its entry needs a price at or after the end, or its exit one after it.
    StaysOpen(Opening),
}

impl OrderOutcome {
    /// Hands on the outcome of an order that reaches the venue at `arrival`. Not an answer: where what is refused and what settles
    /// meet, an answer would be written in pieces and copied as a whole (docs/performance.md).
    #[inline(always)]
    pub(crate) fn of<T>(
        order: &Order,
        arrival: Millis,
        path: &PricePath,
        settings: &SimulationSettings,
        then: impl FnOnce(Self) -> T,
    ) -> T {
        let moments = Moments::of(order.expiry, arrival, settings);
        let entry = path.quote(moments.entry);
        let open_price = match (order.expiry.expiration_type, entry) {
            // Accepted at its arrival; its price is fixed when its candle opens.
            (ExpirationType::NextCandle, _) | (_, Quote::Beyond) => None,
            (_, Quote::Price(priced)) => Some(opened_at(priced, order.direction)),
            (_, Quote::Gap) => return then(Self::Refused(Refusal::NoPrice)),
        };
        let Moments { open_time, close_time, .. } = moments;
        let opening = Opening { open_time, open_price, close_time, payout: settings.payout_of(order.symbol) };
        match (entry, path.quote(moments.exit)) {
            (Quote::Beyond, _) | (_, Quote::Beyond) => then(Self::StaysOpen(opening)),
            (entry, exit) => then(Self::Settles(opening, settle(order, opening, entry, exit, settings))),
        }
    }

    /// What the venue says at the arrival.
    #[inline(always)]
    pub(crate) fn answer(&self) -> AnswerKind {
        match *self {
            Self::Refused(refusal) => AnswerKind::Refused(refusal),
            Self::Settles(opening, _) | Self::StaysOpen(opening) => AnswerKind::Opened(opening),
        }
    }
}

/// The settlement of a trade with these two prices; a missing one cancels it.
#[inline(always)]
fn settle(
    order: &Order,
    opening: Opening,
    entry: Quote,
    exit: Quote,
    settings: &SimulationSettings,
) -> SettledTrade {
    let open_price = entry.priced().map(|priced| opened_at(priced, order.direction));
    let close_price = exit.priced().map(|priced| closed_at(priced, order.direction));
    let outcome = match (open_price, close_price) {
        (Some(open), Some(close)) => outcome_of(order.direction, open, close, settings.draw),
        (None, _) | (_, None) => Outcome::Cancelled,
    };
    SettledTrade {
        number: order.number,
        known_at: opening.close_time + settings.settle_delay_ms,
        outcome,
        profit: profit_of(outcome, order.stake, opening.payout),
        open_price,
        close_price,
        open_time: opening.open_time,
        close_time: opening.close_time,
    }
}

/// An open price, moved against the trade by its stress.
fn opened_at(priced: Priced, direction: Direction) -> f64 {
    match direction {
        Direction::Buy => priced.price + priced.shift,
        Direction::Sell => priced.price - priced.shift,
    }
}

/// A close price, moved against the trade by its stress.
fn closed_at(priced: Priced, direction: Direction) -> f64 {
    opened_at(priced, direction.opposite())
}
