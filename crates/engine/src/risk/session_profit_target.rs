//! `SessionProfitTarget`: the settled profit of the session has reached its target.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(_proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    if !view.limits.session.is_on() {
        return Ruling::Pass;
    }
    let session = view.state.session();
    let target = view.limits.session.profit_target.of(session.equity);
    refuse_if(target.is_some_and(|target| session.profit >= target))
}
