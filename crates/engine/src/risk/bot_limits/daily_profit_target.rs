//! `BotDailyProfitTarget`: the bot's settled profit of the day has reached its target.

use crate::risk::{Proposal, Ruling, View, refuse_if};
use candlewick_sdk::Money;

#[inline]
pub(in crate::risk) fn check(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let enough = limits.daily_profit_target;
    refuse_if(enough > Money::ZERO && view.state.tally(proposal.bot).day_profit >= enough)
}
