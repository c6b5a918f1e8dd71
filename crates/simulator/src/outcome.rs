//! How a trade ends, and what it earns.

use crate::settings::DrawRule;
use candlewick_sdk::{Direction, Money, Outcome, Payout};

/// The outcome of two prices: a BUY wins when the close price is above the open price, a SELL when it is below.
/// Equal prices draw, or lose where [`DrawRule::Loss`] says so.
#[inline]
pub fn outcome_of(direction: Direction, open_price: f64, close_price: f64, draw: DrawRule) -> Outcome {
    if open_price == close_price {
        return match draw {
            DrawRule::Refund => Outcome::Draw,
            DrawRule::Loss => Outcome::Lost,
        };
    }
    let won = match direction {
        Direction::Buy => close_price > open_price,
        Direction::Sell => close_price < open_price,
    };
    if won { Outcome::Won } else { Outcome::Lost }
}

/// The net profit of a stake: the payout for a win, minus the stake for a loss, else nothing.
#[inline]
pub fn profit_of(outcome: Outcome, stake: Money, payout: Payout) -> Money {
    match outcome {
        Outcome::Won => stake.profit_at(payout),
        Outcome::Lost => -stake,
        Outcome::Draw | Outcome::Cancelled => Money::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Buy, Sell};
    use DrawRule::{Loss, Refund};

    fn check(direction: Direction, prices: (f64, f64), draw: DrawRule, expected: (Outcome, i64)) {
        let outcome = outcome_of(direction, prices.0, prices.1, draw);
        let payout = Payout::from_parts(850_000).unwrap();
        let profit = profit_of(outcome, Money::from_minor(1_000), payout);
        assert_eq!((outcome, profit.minor()), expected);
    }

    #[test]
    fn the_direction_decides_who_wins() {
        check(Buy, (1.0, 1.5), Refund, (Outcome::Won, 850));
        check(Buy, (1.5, 1.0), Refund, (Outcome::Lost, -1_000));
        check(Sell, (1.0, 1.5), Refund, (Outcome::Lost, -1_000));
        check(Sell, (1.5, 1.0), Refund, (Outcome::Won, 850));
    }

    #[test]
    fn equal_prices_refund_or_lose() {
        check(Buy, (1.5, 1.5), Refund, (Outcome::Draw, 0));
        check(Sell, (1.5, 1.5), Refund, (Outcome::Draw, 0));
        check(Buy, (1.5, 1.5), Loss, (Outcome::Lost, -1_000));
        check(Sell, (1.5, 1.5), Loss, (Outcome::Lost, -1_000));
    }

    #[test]
    fn a_cancelled_trade_earns_nothing() {
        let profit =
            profit_of(Outcome::Cancelled, Money::from_minor(1_000), Payout::from_parts(850_000).unwrap());
        assert_eq!(profit, Money::ZERO);
    }
}
