//! `Cooldown`: a loss was too recent.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(proposal.at < view.state.rested_at(proposal.symbol))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use crate::{CooldownScope, RiskSettings};
    use candlewick_sdk::{Millis, Outcome};

    /// Asks `wait_ms` after the last of `losses` losses on the proposal's symbol.
    fn ask(change: impl Fn(&mut RiskSettings), losses: u32, wait_ms: i64) -> Ruling {
        let mut situation = Situation::with(change);
        let lost_at = situation.proposal.at - Millis::new(wait_ms);
        for streak in 1..=losses {
            situation.state.count_outcome(Situation::SYMBOL, Outcome::Lost);
            situation.state.cool_down(&situation.limits, Situation::SYMBOL, lost_at, streak);
        }
        situation.ask(check)
    }

    #[test]
    fn any_loss_rests_for_its_cooldown() {
        let minute = |risk: &mut RiskSettings| risk.cooldown_after_loss_s = 60;
        assert_eq!(ask(minute, 1, 59_999), Ruling::Refuse);
        assert_eq!(ask(minute, 1, 60_000), Ruling::Pass);
        assert_eq!(ask(minute, 0, 0), Ruling::Pass);
    }

    #[test]
    fn several_losses_in_a_row_rest_longer() {
        let hour_after_three = |risk: &mut RiskSettings| {
            risk.cooldown_after_losses = 3;
            risk.cooldown_after_losses_s = 3_600;
        };
        assert_eq!(ask(hour_after_three, 2, 1), Ruling::Pass);
        assert_eq!(ask(hour_after_three, 3, 3_599_999), Ruling::Refuse);
        assert_eq!(ask(hour_after_three, 3, 3_600_000), Ruling::Pass);
    }

    #[test]
    fn the_scope_says_whether_other_symbols_rest_too() {
        for (scope, expected) in [(CooldownScope::All, Ruling::Refuse), (CooldownScope::Symbol, Ruling::Pass)]
        {
            let mut situation = Situation::with(|risk| {
                risk.cooldown_after_loss_s = 60;
                risk.cooldown_scope = scope;
            });
            situation.state.cool_down(&situation.limits, Situation::other_symbol(), situation.proposal.at, 1);
            assert_eq!(situation.ask(check), expected, "{scope:?}");
        }
    }
}
