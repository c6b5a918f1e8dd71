//! `BotDailyLossLimit`: the bot's loss of the day could exceed its limit if open trades are lost.

use crate::risk::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(in crate::risk) fn check(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let Some(most) = limits.daily_loss_limit.of(view.ledger.day_equity()) else { return Ruling::Pass };
    let profit = view.state.tally(proposal.bot).day_profit;
    refuse_if(profit - view.intents.stakes_of(proposal.bot) - proposal.stake < -most)
}
