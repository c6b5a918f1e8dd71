//! `DailyLossLimit`: the loss of the day could exceed its limit. Open trades count as lost.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let Some(limit) = view.limits.daily_loss_limit.of(view.ledger.day_equity()) else { return Ruling::Pass };
    let worst = view.ledger.day_result() - view.ledger.open_stakes() - proposal.stake;
    refuse_if(worst < -limit)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use candlewick_sdk::Money;
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
    fn a_limit_in_percent_is_of_the_equity_at_the_beginning_of_the_day() {
        // 2 % of 10,000.00 are 200.00; a deposit of 5,000.00 makes them 300.00, what is lost in the day leaves them.
        for (deposit, lost, expected) in [
            (0, 19_000, Ruling::Pass),
            (0, 19_001, Ruling::Refuse),
            (500_000, 29_000, Ruling::Pass),
            (500_000, 29_001, Ruling::Refuse),
        ] {
            let mut situation = Situation::with(|risk| {
                (risk.daily_loss_limit, risk.daily_loss_limit_percent) = (Decimal::ZERO, 2.0);
            });
            situation.ledger.deposit(Money::from_minor(deposit));
            situation.lose(Money::from_minor(lost));
            assert_eq!(situation.ask(check), expected, "deposit {deposit}, lost {lost}");
        }
    }

    #[test]
    fn a_limit_of_zero_refuses_nothing() {
        let mut situation = Situation::with(|risk| risk.daily_loss_limit = Decimal::ZERO);
        situation.lose(Money::from_minor(900_000));
        assert_eq!(situation.ask(check), Ruling::Pass);
    }
}
