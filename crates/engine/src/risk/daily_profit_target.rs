//! `DailyProfitTarget`: the settled profit of the day has reached its target.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(_proposal: &Proposal, view: View<'_>) -> Ruling {
    let target = view.limits.daily_profit_target.of(view.ledger.day_equity());
    refuse_if(target.is_some_and(|target| view.ledger.day_profit() >= target))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use candlewick_sdk::Money;
    use candlewick_sdk::rust_decimal::Decimal;

    #[test]
    fn a_reached_target_refuses() {
        for (won, expected) in [(4_999, Ruling::Pass), (5_000, Ruling::Refuse)] {
            let mut situation = Situation::with(|risk| risk.daily_profit_target = Decimal::from(50));
            situation.ledger.settle(Money::ZERO, Money::from_minor(won));
            assert_eq!(situation.ask(check), expected, "won {won}");
        }
    }

    #[test]
    fn a_target_in_percent_is_of_the_equity_at_the_beginning_of_the_day() {
        // 1.5 % of 10,000.00.
        for (won, expected) in [(14_999, Ruling::Pass), (15_000, Ruling::Refuse)] {
            let mut situation = Situation::with(|risk| risk.daily_profit_target_percent = 1.5);
            situation.ledger.settle(Money::ZERO, Money::from_minor(won));
            assert_eq!(situation.ask(check), expected, "won {won}");
        }
    }
}
