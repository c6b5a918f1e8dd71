//! `LossStreak`: too many losses in a row.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(_proposal: &Proposal, view: View<'_>) -> Ruling {
    let most = view.limits.max_loss_streak;
    refuse_if(most > 0 && view.ledger.loss_streak() >= most)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Scene;
    use super::*;
    use candlewick_sdk::Outcome;

    #[test]
    fn a_win_ends_the_streak() {
        let mut scene = Scene::with(|risk| risk.max_loss_streak = 2);
        scene.ledger.count_outcome(Outcome::Lost);
        assert_eq!(scene.ask(check), Ruling::Pass);
        scene.ledger.count_outcome(Outcome::Lost);
        assert_eq!(scene.ask(check), Ruling::Refuse);
        scene.ledger.count_outcome(Outcome::Won);
        assert_eq!(scene.ask(check), Ruling::Pass);
    }
}
