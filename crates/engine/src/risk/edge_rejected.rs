//! `EdgeRejected`: the live verdict has ruled the bot's edge out, and is enforced.

use super::{Proposal, Ruling, View, refuse_if};
use crate::Edge;

pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(view.limits.enforce_verdict && proposal.edge == Edge::Rejected)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    #[test]
    fn a_rejected_edge_refuses_only_when_enforced() {
        for (enforced, edge, expected) in [
            (true, Edge::Rejected, Ruling::Refuse),
            (true, Edge::Open, Ruling::Pass),
            (true, Edge::Shown, Ruling::Pass),
            (false, Edge::Rejected, Ruling::Pass),
        ] {
            let mut situation = Situation::with(|risk| risk.enforce_verdict = enforced);
            situation.proposal.edge = edge;
            assert_eq!(situation.ask(check), expected, "{edge:?}");
        }
    }
}
