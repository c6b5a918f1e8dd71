//! Outcome and profit of an order whose stake is covered by the wallet.
#![allow(clippy::inline_always, reason = "writes outcomes directly into their queue: docs/performance.md")]

use crate::moments::TradeTimes;
use crate::order::{AnswerKind, Opening, Order, Refusal, SettledTrade};
use crate::path::{PricePath, Quote, ShiftedPrice};
use crate::settings::{DrawRule, SimulationSettings};
use candlewick_sdk::{Direction, ExpirationType, Millis, Money, Outcome, Payout, compare_prices};
use std::cmp::Ordering;

/// Returns the outcome of a trade with these open and close prices.
/// A BUY wins if the close price is above the open price, a SELL if the close price is below. If [`compare_prices`]
/// considers both prices equal, the trade is a draw, or a loss with [`DrawRule::Loss`].
#[inline]
pub fn trade_outcome(direction: Direction, open_price: f64, close_price: f64, draw: DrawRule) -> Outcome {
    match (compare_prices(close_price, open_price), direction, draw) {
        (Ordering::Equal, _, DrawRule::Refund) => Outcome::Draw,
        (Ordering::Greater, Direction::Buy, _) | (Ordering::Less, Direction::Sell, _) => Outcome::Won,
        (Ordering::Equal | Ordering::Less | Ordering::Greater, ..) => Outcome::Lost,
    }
}

#[inline]
pub fn trade_profit(outcome: Outcome, stake: Money, payout: Payout) -> Money {
    match outcome {
        Outcome::Won => stake.profit_at(payout),
        Outcome::Lost => -stake,
        Outcome::Draw | Outcome::Cancelled => Money::ZERO,
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OrderOutcome {
    Refused(Refusal),
    Settles(Opening, SettledTrade),
    /// The trade never settles: its entry is at or after the end of the data, or its exit is after the end.
    StaysOpen(Opening),
}

/// Order whose stake the wallet covers, with its entry and exit prices.
/// A separate method computes the settlement, which avoids copying the outcome (see docs/performance.md).
pub(crate) struct QuotedOrder<'a> {
    order: &'a Order,
    settings: &'a SimulationSettings,
    opening: Opening,
    entry: Quote,
    exit: Quote,
}

impl<'a> QuotedOrder<'a> {
    #[inline(always)]
    pub(crate) fn new(
        order: &'a Order,
        arrival: Millis,
        path: &PricePath,
        settings: &'a SimulationSettings,
    ) -> Self {
        let TradeTimes { open_time, close_time, entry, exit } =
            TradeTimes::new(order.expiry, arrival, settings);
        let (entry, exit) = (path.quote(entry), path.quote(exit));
        let open_price = match (order.expiry.expiration_type, entry) {
            // The order is accepted at its arrival. Its price is set later, when its candle opens.
            (ExpirationType::NextCandle, _) | (_, Quote::Beyond | Quote::Gap) => None,
            (_, Quote::Price(priced)) => Some(entry_price(priced, order.direction)),
        };
        let opening = Opening { open_time, open_price, close_time, payout: settings.payout_of(order.symbol) };
        Self { order, settings, opening, entry, exit }
    }

    #[inline(always)]
    pub(crate) fn unsettled_outcome(&self) -> Option<OrderOutcome> {
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

    /// Returns the settlement of the trade. The trade is cancelled if a price is missing.
    #[inline(always)]
    pub(crate) fn settled_outcome(&self) -> OrderOutcome {
        let Self { order, settings, opening, .. } = *self;
        let open_price = self.entry.to_price().map(|priced| entry_price(priced, order.direction));
        let close_price = self.exit.to_price().map(|priced| exit_price(priced, order.direction));
        let outcome = match (open_price, close_price) {
            (Some(open), Some(close)) => trade_outcome(order.direction, open, close, settings.draw),
            (None, _) | (_, None) => Outcome::Cancelled,
        };
        let trade = SettledTrade {
            number: order.number,
            known_at: opening.close_time + settings.settle_delay_ms,
            outcome,
            profit: trade_profit(outcome, order.stake, opening.payout),
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

fn entry_price(priced: ShiftedPrice, direction: Direction) -> f64 {
    match direction {
        Direction::Buy => priced.price + priced.shift,
        Direction::Sell => priced.price - priced.shift,
    }
}

fn exit_price(priced: ShiftedPrice, direction: Direction) -> f64 {
    entry_price(priced, direction.opposite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Buy, Sell};
    use DrawRule::{Loss, Refund};

    fn check(direction: Direction, prices: (f64, f64), draw: DrawRule, expected: (Outcome, i64)) {
        let outcome = trade_outcome(direction, prices.0, prices.1, draw);
        let payout = Payout::from_parts(850_000).unwrap();
        let profit = trade_profit(outcome, Money::from_minor(1_000), payout);
        assert_eq!((outcome, profit.minor()), expected);
    }

    #[test]
    fn direction_decides_the_outcome() {
        check(Buy, (1.0, 1.5), Refund, (Outcome::Won, 850));
        check(Buy, (1.5, 1.0), Refund, (Outcome::Lost, -1_000));
        check(Sell, (1.0, 1.5), Refund, (Outcome::Lost, -1_000));
        check(Sell, (1.5, 1.0), Refund, (Outcome::Won, 850));
    }

    #[test]
    fn equal_prices_refund_or_lose_even_with_rounding_errors() {
        // Result of 1.34902 + (1.34908 - 1.34902) * 18 / 60 in binary floating point.
        let (open, close) = (1.349_038_000_000_000_2, 1.349_038);
        for (open, close) in [(open, close), (close, open), (1.5, 1.5)] {
            check(Buy, (open, close), Refund, (Outcome::Draw, 0));
            check(Sell, (open, close), Refund, (Outcome::Draw, 0));
            check(Buy, (open, close), Loss, (Outcome::Lost, -1_000));
            check(Sell, (open, close), Loss, (Outcome::Lost, -1_000));
        }
    }
}
