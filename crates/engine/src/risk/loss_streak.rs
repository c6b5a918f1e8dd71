//! `LossStreak`: too many consecutive losses.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(_proposal: &Proposal, view: View<'_>) -> Ruling {
    let most = view.limits.max_loss_streak;
    refuse_if(most > 0 && view.ledger.loss_streak() >= most)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use candlewick_sdk::Outcome;

    #[test]
    fn a_win_ends_the_streak() {
        let mut situation = Situation::with(|risk| risk.max_loss_streak = 2);
        situation.ledger.count_outcome(Outcome::Lost);
        assert_eq!(situation.ask(check), Ruling::Pass);
        situation.ledger.count_outcome(Outcome::Lost);
        assert_eq!(situation.ask(check), Ruling::Refuse);
        situation.ledger.count_outcome(Outcome::Won);
        assert_eq!(situation.ask(check), Ruling::Pass);
    }
}
