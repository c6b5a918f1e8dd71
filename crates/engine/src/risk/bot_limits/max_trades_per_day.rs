//! `BotMaxTradesPerDay`: the bot has decided the maximum number of trades of the day.

use crate::risk::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(in crate::risk) fn check(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let most = limits.max_trades_per_day;
    refuse_if(most > 0 && view.state.tally(proposal.bot).trades_today >= most)
}
