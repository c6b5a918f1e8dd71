//! `EdgeRejected`: verdicts are enforced, and the bot's edge is ruled out or no longer held.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(view.limits.enforce_verdict && proposal.edge.forbids_trades())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use crate::Edge;

    #[test]
    fn a_rejected_edge_refuses_only_when_enforced() {
        for (enforced, edge, expected) in [
            (true, Edge::Rejected, Ruling::Refuse),
            (true, Edge::NoLongerHeld, Ruling::Refuse),
            (true, Edge::Open, Ruling::Pass),
            (true, Edge::Shown, Ruling::Pass),
            (false, Edge::Rejected, Ruling::Pass),
            (false, Edge::NoLongerHeld, Ruling::Pass),
        ] {
            let mut situation = Situation::with(|risk| risk.enforce_verdict = enforced);
            situation.proposal.edge = edge;
            assert_eq!(situation.ask(check), expected, "{edge:?}");
        }
    }
}
