//! Outcome and profit of a trade.

use crate::settings::DrawRule;
use candlewick_sdk::{Direction, Money, Outcome, Payout, compare_prices};
use std::cmp::Ordering;

/// Returns the outcome of two prices.
///
/// A BUY wins if the close price is above the open price, a SELL if it is below. Prices equal by
/// [`compare_prices`] are a draw, or a loss with [`DrawRule::Loss`].
#[inline]
pub fn outcome_of(direction: Direction, open_price: f64, close_price: f64, draw: DrawRule) -> Outcome {
    match (compare_prices(close_price, open_price), direction, draw) {
        (Ordering::Equal, _, DrawRule::Refund) => Outcome::Draw,
        (Ordering::Greater, Direction::Buy, _) | (Ordering::Less, Direction::Sell, _) => Outcome::Won,
        (Ordering::Equal | Ordering::Less | Ordering::Greater, ..) => Outcome::Lost,
    }
}

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
    fn rounding_errors_neither_win_nor_lose() {
        // 1.34902 + (1.34908 - 1.34902) * 18 / 60, computed in binary fractions.
        let (open, close) = (1.349_038_000_000_000_2, 1.349_038);
        for (open, close) in [(open, close), (close, open)] {
            check(Buy, (open, close), Refund, (Outcome::Draw, 0));
            check(Sell, (open, close), Refund, (Outcome::Draw, 0));
            check(Buy, (open, close), Loss, (Outcome::Lost, -1_000));
            check(Sell, (open, close), Loss, (Outcome::Lost, -1_000));
        }
    }

    #[test]
    fn a_cancelled_trade_earns_nothing() {
        let profit =
            profit_of(Outcome::Cancelled, Money::from_minor(1_000), Payout::from_parts(850_000).unwrap());
        assert_eq!(profit, Money::ZERO);
    }
}
