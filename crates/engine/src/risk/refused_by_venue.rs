//! `RefusedByVenue`: the venue recently refused an order on the symbol, or of the account.

use super::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(super) fn check(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    refuse_if(proposal.at < view.state.refused_until(view.limits, proposal.symbol))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use crate::RefusalReason;
    use candlewick_sdk::Millis;

    /// Asks `wait_ms` after so many refusals in a row, with a first pause of so many seconds.
    fn ask(reason: RefusalReason, refusals: i64, (first_s, wait_ms): (u32, i64)) -> [Ruling; 2] {
        let mut situation = Situation::with(|risk| risk.refused_by_venue_pause_s = first_s);
        let last = situation.proposal.at - Millis::new(wait_ms);
        for earlier in (0..refusals).rev() {
            let at = last - Millis::HOUR * earlier;
            situation.state.record_refusal(reason, Situation::SYMBOL, at, at);
        }
        let own = situation.ask(check);
        situation.proposal.symbol = Situation::other_symbol();
        [own, situation.ask(check)]
    }

    #[test]
    fn refuses_until_the_pause_ends() {
        use Ruling::{Pass, Refuse};
        let inactive = RefusalReason::SymbolInactive;
        for (reason, refusals, setting, expected) in [
            (inactive, 1, (60, 59_999), [Refuse, Pass]),
            (inactive, 1, (60, 60_000), [Pass, Pass]),
            (inactive, 2, (60, 119_999), [Refuse, Pass]),
            (inactive, 2, (60, 120_000), [Pass, Pass]),
            (inactive, 9, (60, 3_599_999), [Refuse, Pass]),
            (inactive, 9, (60, 3_600_000), [Pass, Pass]),
            (RefusalReason::TradesPerMinute, 1, (60, 59_999), [Refuse, Refuse]),
            (inactive, 9, (0, 0), [Pass, Pass]),
        ] {
            assert_eq!(ask(reason, refusals, setting), expected, "{reason} {refusals} {setting:?}");
        }
    }

    #[test]
    fn a_resume_ends_the_pauses() {
        let mut situation = Situation::default();
        let at = situation.proposal.at;
        situation.state.record_refusal(RefusalReason::Other, Situation::SYMBOL, at, at);
        assert_eq!(situation.ask(check), Ruling::Refuse);
        situation.state.resume();
        assert_eq!(situation.ask(check), Ruling::Pass);
    }
}
