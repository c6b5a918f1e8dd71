//! `BotDailyProfitTarget`: the bot's settled profit of the day has reached its target.

use crate::risk::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(in crate::risk) fn check(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let enough = limits.daily_profit_target.of(view.ledger.day_equity());
    refuse_if(enough.is_some_and(|enough| view.state.tally(proposal.bot).day_profit >= enough))
}
