//! `MaxTradesPerHour`: the maximum number of trades in the last 60 minutes is reached.

use super::{Proposal, Ruling, View, refuse_if};
use candlewick_sdk::Millis;

#[inline]
pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let most = view.limits.max_trades_per_hour;
    refuse_if(most > 0 && view.state.trades_after(proposal.at - Millis::HOUR) >= most)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    #[test]
    fn the_sixty_minutes_slide() {
        let mut situation = Situation::with(|risk| risk.max_trades_per_hour = 2);
        let now = situation.proposal.at;
        situation.state.count_trade(&situation.limits, now - Millis::HOUR);
        situation.state.count_trade(&situation.limits, now - Millis::MINUTE);
        assert_eq!(situation.ask(check), Ruling::Pass, "one of them is 60 minutes old");
        situation.state.count_trade(&situation.limits, now);
        assert_eq!(situation.ask(check), Ruling::Refuse);
        situation.state.uncount_trade(now);
        assert_eq!(situation.ask(check), Ruling::Pass, "it never came to be");
    }

    #[test]
    fn a_trade_that_came_to_be_late_makes_no_other_forgotten() {
        let mut situation = Situation::with(|risk| risk.max_trades_per_hour = 2);
        let at = |minutes: i64| situation.proposal.at - Millis::MINUTE * minutes;
        let (first, late, gone) = (at(30), at(20), at(10));
        situation.state.count_trade(&situation.limits, first);
        situation.state.count_trade(&situation.limits, late);
        situation.state.uncount_trade(late);
        situation.state.count_trade(&situation.limits, gone);
        situation.state.recount_trade(&situation.limits, late);
        situation.state.uncount_trade(gone);
        assert_eq!(situation.ask(check), Ruling::Refuse, "two of this hour's trades came to be");
    }
}
