//! `InFlight`: an order of any bot on the symbol has no reply yet.

use super::{Proposal, Ruling, View, refuse_if};
use crate::intent::Stage;

#[inline]
pub(super) fn check(_: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(view.counts.at_stage(Stage::InFlight) > 0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    #[test]
    fn an_unanswered_open_blocks_its_symbol_for_every_bot() {
        let mut situation = Situation::default();
        situation.begin(Situation::SYMBOL, Stage::InFlight);
        assert_eq!(situation.ask(check), Ruling::Refuse);
        situation.proposal.symbol = Situation::other_symbol();
        assert_eq!(situation.ask(check), Ruling::Pass);
    }
}
