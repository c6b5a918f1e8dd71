//! `StakeBounds`: the stake is below the minimum or above a maximum (amount or balance share).

use super::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let limits = view.limits;
    refuse_if(
        proposal.stake < limits.minimum_stake()
            || limits.largest_stake().is_some_and(|most| proposal.stake > most)
            || (limits.max_stake_fraction > 0.0
                && proposal.stake > view.ledger.available().scaled_down(limits.max_stake_fraction)),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use candlewick_sdk::Money;
    use candlewick_sdk::rust_decimal::Decimal;

    #[test]
    fn a_stake_outside_its_bounds_is_refused() {
        // Minimum 5.00, maximum 50.00, 0.3 % of 10,000.00 = 30.00.
        for (stake, percent, expected) in [
            (499, 0.0, Ruling::Refuse),
            (500, 0.0, Ruling::Pass),
            (5_000, 0.0, Ruling::Pass),
            (5_001, 0.0, Ruling::Refuse),
            (3_000, 0.3, Ruling::Pass),
            (3_001, 0.3, Ruling::Refuse),
        ] {
            let mut situation = Situation::with(|risk| {
                risk.min_stake = Decimal::from(5);
                risk.max_stake = Decimal::from(50);
                risk.max_stake_percent = percent;
            });
            situation.proposal.stake = Money::from_minor(stake);
            assert_eq!(situation.ask(check), expected, "{stake} at {percent} %");
        }
    }

    #[test]
    fn a_stake_of_nothing_is_refused_even_without_a_minimum() {
        let mut situation = Situation::with(|risk| risk.min_stake = Decimal::ZERO);
        situation.proposal.stake = Money::ZERO;
        assert_eq!(situation.ask(check), Ruling::Refuse);
    }
}
