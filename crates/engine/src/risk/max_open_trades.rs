//! `MaxOpenTrades`: enough trades are open, in all or on the symbol.

use super::{Limits, Proposal, Ruling, View, refuse_if};
use crate::intent::{IntentCounts, Intents};

#[inline]
pub(super) fn check(_: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(view.limits.is_full(view.intents, view.counts))
}

impl Limits {
    /// Whether no more trades may be open on a symbol that has so many.
    #[inline]
    pub(crate) fn is_full(&self, intents: &Intents, on_symbol: &IntentCounts) -> bool {
        let reached = |most: usize, count: usize| most > 0 && count >= most;
        reached(self.max_open_trades, intents.trades())
            || reached(self.max_open_trades_per_symbol, on_symbol.all() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use crate::intent::Stage;

    fn ask(all: u32, per_symbol: u32, here: usize, elsewhere: usize) -> Ruling {
        let mut situation = Situation::with(|risk| {
            risk.max_open_trades = all;
            risk.max_open_trades_per_symbol = per_symbol;
        });
        (0..here).for_each(|_| situation.begin(Situation::SYMBOL, Stage::Open));
        (0..elsewhere).for_each(|_| situation.begin(Situation::other_symbol(), Stage::InFlight));
        situation.ask(check)
    }

    #[test]
    fn both_limits_hold_and_zero_turns_them_off() {
        assert_eq!(ask(3, 1, 0, 2), Ruling::Pass);
        assert_eq!(ask(3, 1, 0, 3), Ruling::Refuse);
        assert_eq!(ask(3, 1, 1, 0), Ruling::Refuse);
        assert_eq!(ask(0, 0, 50, 50), Ruling::Pass);
    }

    #[test]
    fn a_second_trade_of_one_request_counts_until_it_is_over() {
        for (all, per_symbol) in [(2, 0), (0, 2)] {
            let mut situation = Situation::with(|risk| {
                (risk.max_open_trades, risk.max_open_trades_per_symbol) = (all, per_symbol);
            });
            let id = situation.intents.next_id();
            situation.begin(Situation::SYMBOL, Stage::Open);
            situation.intents.begin_second(id);
            assert_eq!(situation.ask(check), Ruling::Refuse);
            // It may outlive the trade that was asked for.
            situation.intents.settle(id);
            assert_eq!(situation.ask(check), Ruling::Pass);
            situation.begin(Situation::SYMBOL, Stage::Open);
            assert_eq!(situation.ask(check), Ruling::Refuse);
            situation.intents.end_second(id);
            assert_eq!(situation.ask(check), Ruling::Pass);
        }
    }
}
