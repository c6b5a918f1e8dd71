//! `MaxTradesPerDay`: enough trades in the day.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(_proposal: &Proposal, view: View<'_>) -> Ruling {
    let most = view.limits.max_trades_per_day;
    refuse_if(most > 0 && view.state.trades_today() >= most)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Scene;
    use super::*;

    #[test]
    fn a_new_day_counts_anew() {
        let mut scene = Scene::with(|risk| risk.max_trades_per_day = 1);
        scene.state.count_trade(&scene.limits, scene.proposal.at);
        assert_eq!(scene.ask(check), Ruling::Refuse);
        scene.state.open_day(scene.proposal.at);
        assert_eq!(scene.ask(check), Ruling::Pass);
    }
}
