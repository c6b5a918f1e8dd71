//! `GateClosed`: the signal is virtual, because the gate of its strategy is closed.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(proposal: &Proposal, _: View<'_>) -> Ruling {
    refuse_if(proposal.is_virtual)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    #[test]
    fn a_virtual_signal_alone_is_refused() {
        for (is_virtual, expected) in [(true, Ruling::Refuse), (false, Ruling::Pass)] {
            let mut situation = Situation::default();
            situation.proposal.is_virtual = is_virtual;
            assert_eq!(situation.ask(check), expected);
        }
    }
}
