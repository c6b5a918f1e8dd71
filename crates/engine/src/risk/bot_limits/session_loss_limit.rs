//! `BotSessionLossLimit`: the bot's session loss could exceed its limit if open trades are lost.

use crate::risk::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(in crate::risk) fn check(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    if !view.limits.session.is_on() {
        return Ruling::Pass;
    }
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let Some(most) = limits.session_loss_limit.of(view.state.session().equity) else { return Ruling::Pass };
    let profit = view.state.tally(proposal.bot).session_profit;
    refuse_if(profit - view.intents.stakes_of(proposal.bot) - proposal.stake < -most)
}
