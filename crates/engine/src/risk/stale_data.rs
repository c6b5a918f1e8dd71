//! `StaleData`: the bot's last candle is too old for a decision.

use super::{Proposal, Ruling, View, refuse_if};
use candlewick_sdk::Millis;

pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let (most, age) = (view.limits.stale_after_intervals, proposal.received - proposal.last_close);
    refuse_if(age > Millis::ZERO && most > 0 && age > proposal.interval * most)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    #[test]
    fn a_candle_older_than_the_allowed_intervals_is_stale() {
        for (age_ms, intervals, expected) in
            [(120_000, 2, Ruling::Pass), (120_001, 2, Ruling::Refuse), (9_000_000, 0, Ruling::Pass)]
        {
            let mut situation = Situation::with(|risk| risk.stale_after_intervals = intervals);
            situation.proposal.last_close = situation.proposal.received - Millis::new(age_ms);
            assert_eq!(situation.ask(check), expected, "{age_ms} ms");
        }
    }
}
