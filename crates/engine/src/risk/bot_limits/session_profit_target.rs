//! `BotSessionProfitTarget`: the bot's settled profit of the session has reached its target.

use crate::risk::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(in crate::risk) fn check(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    if !view.limits.session.is_on() {
        return Ruling::Pass;
    }
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let enough = limits.session_profit_target.of(view.state.session().equity);
    refuse_if(enough.is_some_and(|enough| view.state.tally(proposal.bot).session_profit >= enough))
}
