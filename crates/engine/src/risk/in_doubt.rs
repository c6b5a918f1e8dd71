//! `InDoubt`: an intent of unknown status is on the symbol.

use super::{Proposal, Ruling, View, refuse_if};
use crate::intent::Stage;

#[inline]
pub(super) fn check(_: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(view.counts.at_stage(Stage::InDoubt) > 0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    #[test]
    fn a_doubt_blocks_its_symbol_and_no_other() {
        let mut situation = Situation::default();
        situation.begin(Situation::SYMBOL, Stage::InDoubt);
        assert_eq!(situation.ask(check), Ruling::Refuse);
        situation.proposal.symbol = Situation::other_symbol();
        assert_eq!(situation.ask(check), Ruling::Pass);
    }
}
