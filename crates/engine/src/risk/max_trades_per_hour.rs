//! `MaxTradesPerHour`: enough trades in the last 60 minutes.

use super::{Proposal, Ruling, View, refuse_if};
use candlewick_sdk::Millis;

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
}
