//! `DuplicateOpen`: a trade of the same direction and close time is open on the symbol.
//!
//! Close times are those that the expiries mean, counted from the decisions and the delays of their bots; the venue's own differ by its
//! latency.

use super::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let may_be = !view.limits.allow_duplicate && view.counts.in_direction(proposal.direction) > 0;
    refuse_if(may_be && is_same_open(proposal, view))
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
}
