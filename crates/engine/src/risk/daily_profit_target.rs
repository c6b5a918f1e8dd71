//! `DailyProfitTarget`: enough won for the day; only what has settled counts.

use super::{Proposal, Ruling, View, refuse_if};
use candlewick_sdk::Money;

pub(super) fn check(_proposal: &Proposal, view: View<'_>) -> Ruling {
    let target = view.limits.daily_profit_target;
    refuse_if(target > Money::ZERO && view.ledger.day_profit() >= target)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use candlewick_sdk::rust_decimal::Decimal;

    #[test]
    fn a_reached_target_refuses() {
        for (won, expected) in [(4_999, Ruling::Pass), (5_000, Ruling::Refuse)] {
            let mut situation = Situation::with(|risk| risk.daily_profit_target = Decimal::from(50));
            situation.ledger.settle(Money::ZERO, Money::from_minor(won));
            assert_eq!(situation.ask(check), expected, "won {won}");
        }
    }
}
