//! `OppositeOpen`: a trade in the opposite direction is open on the symbol.

use super::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let opposite = view.counts.in_direction(proposal.direction.opposite());
    refuse_if(!view.limits.allow_opposite && opposite > 0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use crate::intent::Stage;

    #[test]
    fn an_open_trade_the_other_way_refuses_unless_allowed() {
        for (allowed, expected) in [(false, Ruling::Refuse), (true, Ruling::Pass)] {
            let mut situation = Situation::with(|risk| risk.allow_opposite = allowed);
            situation.begin(Situation::SYMBOL, Stage::Open);
            assert_eq!(situation.ask(check), Ruling::Pass, "same direction");
            situation.proposal.direction = situation.proposal.direction.opposite();
            assert_eq!(situation.ask(check), expected, "allow_opposite = {allowed}");
        }
    }
}
