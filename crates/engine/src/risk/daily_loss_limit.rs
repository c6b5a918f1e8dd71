//! `DailyLossLimit`: the day's loss could go beyond its limit. An open trade counts as lost until it settles.

use super::{Proposal, Ruling, View, refuse_if};
use candlewick_sdk::Money;

pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let limit = view.limits.daily_loss_limit;
    let worst = view.ledger.day_profit() - view.ledger.open_stakes() - proposal.stake;
    refuse_if(limit > Money::ZERO && worst < -limit)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use candlewick_sdk::rust_decimal::Decimal;

    #[test]
    fn settled_losses_open_stakes_and_this_stake_together_stay_within_the_limit() {
        // The limit is 100.00, this stake 10.00.
        for (lost, open, expected) in [
            (0, 0, Ruling::Pass),
            (9_000, 0, Ruling::Pass),
            (9_001, 0, Ruling::Refuse),
            (4_000, 5_000, Ruling::Pass),
            (4_000, 5_001, Ruling::Refuse),
        ] {
            let mut situation = Situation::default();
            situation.lose(Money::from_minor(lost));
            situation.ledger.reserve(Money::from_minor(open));
            assert_eq!(situation.ask(check), expected, "lost {lost}, open {open}");
        }
    }

    #[test]
    fn a_limit_of_zero_refuses_nothing() {
        let mut situation = Situation::with(|risk| risk.daily_loss_limit = Decimal::ZERO);
        situation.lose(Money::from_minor(900_000));
        assert_eq!(situation.ask(check), Ruling::Pass);
    }
}
