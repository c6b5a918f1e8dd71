//! `MaxTradesPerHour`: enough trades in the last 60 minutes.

use super::{Proposal, Ruling, View, refuse_if};
use candlewick_sdk::Millis;

#[inline]
pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let most = view.limits.max_trades_per_hour;
    refuse_if(most > 0 && view.state.trades_after(proposal.at - Millis::HOUR) >= most)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Scene;
    use super::*;

    #[test]
    fn the_sixty_minutes_slide() {
        let mut scene = Scene::with(|risk| risk.max_trades_per_hour = 2);
        let now = scene.proposal.at;
        scene.state.count_trade(&scene.limits, now - Millis::HOUR);
        scene.state.count_trade(&scene.limits, now - Millis::MINUTE);
        assert_eq!(scene.ask(check), Ruling::Pass, "one of them is 60 minutes old");
        scene.state.count_trade(&scene.limits, now);
        assert_eq!(scene.ask(check), Ruling::Refuse);
        scene.state.uncount_trade(now);
        assert_eq!(scene.ask(check), Ruling::Pass, "it never came to be");
    }

    #[test]
    fn a_trade_that_came_to_be_late_makes_no_other_forgotten() {
        let mut scene = Scene::with(|risk| risk.max_trades_per_hour = 2);
        let at = |minutes: i64| scene.proposal.at - Millis::MINUTE * minutes;
        let (first, late, gone) = (at(30), at(20), at(10));
        scene.state.count_trade(&scene.limits, first);
        scene.state.count_trade(&scene.limits, late);
        scene.state.uncount_trade(late);
        scene.state.count_trade(&scene.limits, gone);
        scene.state.recount_trade(&scene.limits, late);
        scene.state.uncount_trade(gone);
        assert_eq!(scene.ask(check), Ruling::Refuse, "two of this hour's trades came to be");
    }
}
