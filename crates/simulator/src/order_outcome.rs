//! Outcome of an order that the wallet covers.
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OrderOutcome {
    Refused(Refusal),
    Settles(Opening, SettledTrade),
    /// A trade that the data never settles.
    ///
    /// Its entry is at or after the end of the data, or its exit after it.
    StaysOpen(Opening),
}

/// An order that the wallet covers, with both of its prices.
///
/// Settlements are computed separately from all other outcomes. In a common function, an outcome
/// would be written in pieces and then copied (docs/performance.md).
pub(crate) struct QuotedOrder<'a> {
    order: &'a Order,
    settings: &'a SimulationSettings,
    opening: Opening,
    entry: Quote,
    exit: Quote,
}

impl<'a> QuotedOrder<'a> {
    #[inline(always)]
    pub(crate) fn of(
        order: &'a Order,
        arrival: Millis,
        path: &PricePath,
        settings: &'a SimulationSettings,
    ) -> Self {
        let Moments { open_time, close_time, entry, exit } = Moments::of(order.expiry, arrival, settings);
        let (entry, exit) = (path.quote(entry), path.quote(exit));
        let open_price = match (order.expiry.expiration_type, entry) {
            // Accepted at its arrival; its price is fixed when its candle opens.
            (ExpirationType::NextCandle, _) | (_, Quote::Beyond | Quote::Gap) => None,
            (_, Quote::Price(priced)) => Some(opened_at(priced, order.direction)),
        };
        let opening = Opening { open_time, open_price, close_time, payout: settings.payout_of(order.symbol) };
        Self { order, settings, opening, entry, exit }
    }

    #[inline(always)]
    pub(crate) fn without_settlement(&self) -> Option<OrderOutcome> {
        match (self.order.expiry.expiration_type, self.entry, self.exit) {
            (
                ExpirationType::Unstated | ExpirationType::TimeFixed | ExpirationType::CandleClose,
                Quote::Gap,
                _,
            ) => Some(OrderOutcome::Refused(Refusal::NoPrice)),
            (_, Quote::Beyond, _) | (_, _, Quote::Beyond) => Some(OrderOutcome::StaysOpen(self.opening)),
            (_, Quote::Gap | Quote::Price(_), Quote::Gap | Quote::Price(_)) => None,
        }
    }

    /// Returns the settled trade; a missing price cancels it.
    #[inline(always)]
    pub(crate) fn settled(&self) -> OrderOutcome {
        let Self { order, settings, opening, .. } = *self;
        let open_price = self.entry.priced().map(|priced| opened_at(priced, order.direction));
        let close_price = self.exit.priced().map(|priced| closed_at(priced, order.direction));
        let outcome = match (open_price, close_price) {
            (Some(open), Some(close)) => outcome_of(order.direction, open, close, settings.draw),
            (None, _) | (_, None) => Outcome::Cancelled,
        };
        let trade = SettledTrade {
            number: order.number,
            known_at: opening.close_time + settings.settle_delay_ms,
            outcome,
            profit: profit_of(outcome, order.stake, opening.payout),
            open_price,
            close_price,
            open_time: opening.open_time,
            close_time: opening.close_time,
        };
        OrderOutcome::Settles(opening, trade)
    }
}

impl OrderOutcome {
    #[inline(always)]
    pub(crate) fn answer(&self) -> AnswerKind {
        match *self {
            Self::Refused(refusal) => AnswerKind::Refused(refusal),
            Self::Settles(opening, _) | Self::StaysOpen(opening) => AnswerKind::Opened(opening),
        }
    }
}

fn opened_at(priced: Priced, direction: Direction) -> f64 {
    match direction {
        Direction::Buy => priced.price + priced.shift,
        Direction::Sell => priced.price - priced.shift,
    }
}

fn closed_at(priced: Priced, direction: Direction) -> f64 {
    opened_at(priced, direction.opposite())
}
