//! `InDoubt`: an intent on the symbol may or may not be a trade.

use super::{Proposal, Ruling, View, refuse_if};
use crate::intent::Stage;

#[inline]
pub(super) fn check(_: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(view.counts.at_stage(Stage::InDoubt) > 0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Scene;
    use super::*;

    #[test]
    fn a_doubt_blocks_its_symbol_and_no_other() {
        let mut scene = Scene::default();
        scene.begin(Scene::SYMBOL, Stage::InDoubt);
        assert_eq!(scene.ask(check), Ruling::Refuse);
        scene.proposal.symbol = Scene::other_symbol();
        assert_eq!(scene.ask(check), Ruling::Pass);
    }
}
