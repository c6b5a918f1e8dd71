//! `BotMaxOpenTrades`: the bot has the maximum number of open trades.

use crate::risk::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(in crate::risk) fn check(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let most = limits.max_open_trades;
    refuse_if(most > 0 && view.intents.trades_of(proposal.bot) >= most)
}
