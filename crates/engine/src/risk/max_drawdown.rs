//! `MaxDrawdown`: equity could fall too far below its peak. Open trades count as lost.

use super::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let peak = view.ledger.peak();
    // The available balance already excludes everything that is open.
    let worst = view.ledger.available() - proposal.stake;
    refuse_if(view.limits.is_too_deep(peak - worst, peak))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use candlewick_sdk::Money;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_too_deep_is_more_than_the_percent_of_the_peak(
            percent in prop_oneof![Just(0.0), Just(12.5), Just(50.0), Just(100.0), 0.0..100.0],
            peak in prop_oneof![-1_000_000_i64..1_000_000, any::<i64>()],
            share in 0.0..1.2,
            beside in -1_i64..=1,
        ) {
            let situation = Situation::with(|risk| risk.max_drawdown_percent = percent);
            let fall = Money::from_minor(((peak as f64 * share) as i64).saturating_add(beside));
            let peak = Money::from_minor(peak);
            let expected = percent > 0.0 && fall > peak.scaled_down(percent / 100.0);
            prop_assert_eq!(situation.limits.is_too_deep(fall, peak), expected);
        }
    }

    #[test]
    fn the_worst_case_stays_within_the_drawdown_from_the_peak() {
        // The peak is 10,000.00, the limit 20 %, this stake 10.00.
        for (lost, open, expected) in
            [(199_000, 0, Ruling::Pass), (199_001, 0, Ruling::Refuse), (99_000, 100_001, Ruling::Refuse)]
        {
            let mut situation = Situation::default();
            situation.lose(Money::from_minor(lost));
            situation.ledger.reserve(Money::from_minor(open));
            assert_eq!(situation.ask(check), expected, "lost {lost}, open {open}");
        }
    }

    #[test]
    fn after_a_resume_the_peak_is_the_present_equity() {
        let mut situation = Situation::default();
        situation.lose(Money::from_minor(300_000));
        assert_eq!(situation.ask(check), Ruling::Refuse);
        situation.ledger.rebase();
        assert_eq!(situation.ask(check), Ruling::Pass);
    }
}
