//! `BotLossStreak`: the bot has too many consecutive losses. Other bots are not affected.

use crate::risk::{Proposal, Ruling, View, refuse_if};

#[inline]
pub(in crate::risk) fn check(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let most = limits.max_loss_streak;
    refuse_if(most > 0 && view.state.tally(proposal.bot).losses >= most)
}
