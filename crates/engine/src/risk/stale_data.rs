//! `StaleData`: the bot's last candle is too old to decide on.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let most = proposal.interval * view.limits.stale_after_intervals;
    let age = proposal.received - proposal.last_close;
    refuse_if(view.limits.stale_after_intervals > 0 && age > most)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Scene;
    use super::*;
    use candlewick_sdk::Millis;

    #[test]
    fn a_candle_older_than_the_allowed_intervals_is_stale() {
        for (age_ms, intervals, expected) in
            [(120_000, 2, Ruling::Pass), (120_001, 2, Ruling::Refuse), (9_000_000, 0, Ruling::Pass)]
        {
            let mut scene = Scene::with(|risk| risk.stale_after_intervals = intervals);
            scene.proposal.last_close = scene.proposal.received - Millis::new(age_ms);
            assert_eq!(scene.ask(check), expected, "{age_ms} ms");
        }
    }
}
