//! `DuplicateOpen`: a trade of the same direction and close time is open on the symbol.
//!
//! Close times are nominal, counted from the decisions and the entry delays of the bots. Those of
//! the venue differ by its latency.

use super::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let Proposal { direction, nominal_close, .. } = *proposal;
    let may_be = !view.limits.allow_duplicate && view.counts.in_direction(direction) > 0;
    // Nearly always it is meant to close later than all before it.
    refuse_if(may_be && view.counts.may_close_at(nominal_close) && is_same_open(proposal, view))
}

#[inline(never)]
fn is_same_open(proposal: &Proposal, view: View<'_>) -> bool {
    let Proposal { direction, nominal_close, .. } = *proposal;
    let mut trades = view.intents.on_symbol(proposal.symbol);
    trades.any(|trade| trade.direction == direction && trade.nominal_close == nominal_close)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use crate::intent::Stage;
    use candlewick_sdk::Millis;

    #[test]
    fn the_same_bet_twice_refuses_unless_allowed() {
        for (allowed, expected) in [(false, Ruling::Refuse), (true, Ruling::Pass)] {
            let mut situation = Situation::with(|risk| risk.allow_duplicate = allowed);
            situation.begin(Situation::SYMBOL, Stage::Open);
            assert_eq!(situation.ask(check), expected, "allow_duplicate = {allowed}");
            situation.proposal.nominal_close += Millis::MINUTE;
            assert_eq!(situation.ask(check), Ruling::Pass, "another close time");
        }
    }

    #[test]
    fn the_same_bet_is_found_beside_others_that_close_later_or_earlier() {
        for minutes in [[0, 1], [1, 0], [0, -1], [-1, 0]] {
            let mut situation = Situation::default();
            let close = situation.proposal.nominal_close;
            for later in minutes {
                situation.proposal.nominal_close = close + Millis::MINUTE * later;
                situation.begin(Situation::SYMBOL, Stage::Open);
            }
            for (later, expected) in [(-2, Ruling::Pass), (0, Ruling::Refuse), (2, Ruling::Pass)] {
                situation.proposal.nominal_close = close + Millis::MINUTE * later;
                assert_eq!(situation.ask(check), expected, "{minutes:?} {later}");
            }
        }
    }

    #[test]
    fn intents_that_were_read_back_are_found_too() {
        let mut situation = Situation::default();
        situation.begin(Situation::SYMBOL, Stage::Open);
        let kept = serde_json::to_string(&situation.intents).unwrap();
        situation.intents = serde_json::from_str(&kept).unwrap();
        assert_eq!(situation.ask(check), Ruling::Refuse);
    }
}
