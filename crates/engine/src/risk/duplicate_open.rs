//! `DuplicateOpen`: a trade of the same direction and close time is open on the symbol.
//!
//! Close times are those that the expiries mean, counted from the decisions; the venue's own differ by its latency.

use super::{Proposal, Ruling, View, refuse_if};
use crate::intent::Intent;

#[inline]
pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let direction = proposal.direction;
    let is_same =
        |trade: &Intent| trade.direction == direction && trade.nominal_close == proposal.nominal_close;
    let mut same = view.intents.on_symbol(proposal.symbol).filter(|trade| is_same(trade));
    let in_direction = view.intents.counts(proposal.symbol).in_direction(direction);
    refuse_if(!view.limits.allow_duplicate && in_direction > 0 && same.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Scene;
    use super::*;
    use crate::intent::Stage;
    use candlewick_sdk::Millis;

    #[test]
    fn the_same_bet_twice_refuses_unless_allowed() {
        for (allowed, expected) in [(false, Ruling::Refuse), (true, Ruling::Pass)] {
            let mut scene = Scene::with(|risk| risk.allow_duplicate = allowed);
            scene.begin(Scene::SYMBOL, Stage::Open);
            assert_eq!(scene.ask(check), expected, "allow_duplicate = {allowed}");
            scene.proposal.nominal_close += Millis::MINUTE;
            assert_eq!(scene.ask(check), Ruling::Pass, "another close time");
        }
    }
}
