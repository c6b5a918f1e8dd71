//! `MaxOpenTradesPerSymbol`: the maximum number of trades is open on the symbol.

use super::max_open_trades::is_reached;
use super::{Limits, Proposal, Ruling, View, refuse_if};
use crate::intent::IntentCounts;

#[inline]
pub(super) fn check(_: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(is_full(view.limits, view.counts))
}

#[inline]
pub(super) fn is_full(limits: &Limits, on_symbol: &IntentCounts) -> bool {
    is_reached(limits.max_open_trades_per_symbol, on_symbol.all() as usize)
}
