//! `MaxOpenTrades`: the maximum number of trades is open.

use super::{Limits, Proposal, Ruling, View, max_open_trades_per_symbol, refuse_if};
use crate::intent::{IntentCounts, Intents};

#[inline]
pub(super) fn check(_: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(is_reached(view.limits.max_open_trades, view.intents.trades()))
}

#[inline]
pub(super) const fn is_reached(most: usize, count: usize) -> bool {
    most > 0 && count >= most
}

impl Limits {
    #[inline]
    pub(crate) fn is_full(&self, intents: &Intents, on_symbol: &IntentCounts) -> bool {
        is_reached(self.max_open_trades, intents.trades())
            || max_open_trades_per_symbol::is_full(self, on_symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use crate::intent::Stage;

    /// What both rules say: that of all, and that of the symbol.
    fn ask(all: u32, per_symbol: u32, here: usize, elsewhere: usize) -> [Ruling; 2] {
        let mut situation = Situation::with(|risk| {
            risk.max_open_trades = all;
            risk.max_open_trades_per_symbol = per_symbol;
        });
        (0..here).for_each(|_| situation.begin(Situation::SYMBOL, Stage::Open));
        (0..elsewhere).for_each(|_| situation.begin(Situation::other_symbol(), Stage::InFlight));
        let rulings = [situation.ask(check), situation.ask(max_open_trades_per_symbol::check)];
        let Situation { limits, intents, .. } = &situation;
        let is_full = limits.is_full(intents, intents.counts(Situation::SYMBOL));
        assert_eq!(is_full, rulings.contains(&Ruling::Refuse));
        rulings
    }

    #[test]
    fn each_limit_holds_for_itself_and_zero_turns_it_off() {
        let (pass, refuse) = (Ruling::Pass, Ruling::Refuse);
        assert_eq!(ask(3, 1, 0, 2), [pass, pass]);
        assert_eq!(ask(3, 1, 0, 3), [refuse, pass]);
        assert_eq!(ask(3, 1, 1, 0), [pass, refuse]);
        assert_eq!(ask(3, 1, 1, 2), [refuse, refuse]);
        assert_eq!(ask(0, 0, 50, 50), [pass, pass]);
    }

    #[test]
    fn a_second_trade_of_one_request_counts_until_it_is_over() {
        for (all, per_symbol) in [(2, 0), (0, 2)] {
            let mut situation = Situation::with(|risk| {
                (risk.max_open_trades, risk.max_open_trades_per_symbol) = (all, per_symbol);
            });
            let ask = |situation: &Situation| {
                let [all, symbol] = [situation.ask(check), situation.ask(max_open_trades_per_symbol::check)];
                if all == Ruling::Pass { symbol } else { all }
            };
            let id = situation.intents.next_id();
            situation.begin(Situation::SYMBOL, Stage::Open);
            situation.intents.begin_second(id);
            assert_eq!(ask(&situation), Ruling::Refuse);
            // It may outlive the trade that was asked for.
            situation.intents.settle(id);
            assert_eq!(ask(&situation), Ruling::Pass);
            situation.begin(Situation::SYMBOL, Stage::Open);
            assert_eq!(ask(&situation), Ruling::Refuse);
            situation.intents.end_second(id);
            assert_eq!(ask(&situation), Ruling::Pass);
        }
    }
}
