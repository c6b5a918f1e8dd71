//! `InsufficientBalance`: the available balance does not cover the stake.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(proposal.stake > view.ledger.available())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use candlewick_sdk::Money;

    #[test]
    fn the_last_cent_can_be_staked_and_no_more() {
        let mut situation = Situation::default();
        situation.proposal.stake = situation.ledger.free();
        assert_eq!(situation.ask(check), Ruling::Pass);
        situation.proposal.stake += Money::from_minor(1);
        assert_eq!(situation.ask(check), Ruling::Refuse);
    }
}
