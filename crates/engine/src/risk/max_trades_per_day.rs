//! `MaxTradesPerDay`: the maximum number of trades of the day is reached.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(_proposal: &Proposal, view: View<'_>) -> Ruling {
    let most = view.limits.max_trades_per_day;
    refuse_if(most > 0 && view.state.trades_today() >= most)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    #[test]
    fn a_limit_of_zero_refuses_nothing() {
        let mut situation = Situation::with(|risk| risk.max_trades_per_day = 0);
        for _ in 0..500 {
            situation.state.count_trade(&situation.limits, situation.proposal.at);
        }
        assert_eq!(situation.ask(check), Ruling::Pass);
    }

    #[test]
    fn a_new_day_counts_anew() {
        let mut situation = Situation::with(|risk| risk.max_trades_per_day = 1);
        situation.state.count_trade(&situation.limits, situation.proposal.at);
        assert_eq!(situation.ask(check), Ruling::Refuse);
        situation.state.open_day(situation.proposal.at);
        assert_eq!(situation.ask(check), Ruling::Pass);
    }
}
