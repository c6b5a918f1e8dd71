//! Rules on open trades, orders in flight and the number of trades.

use super::{Limits, Proposal, Ruling, View, refuse_if};
use crate::intent::{IntentCounts, Intents, Stage};
use candlewick_sdk::Millis;

#[inline]
pub(super) fn check_in_flight(_: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(view.counts.at_stage(Stage::InFlight) > 0)
}

#[inline]
pub(super) fn check_in_doubt(_: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(view.counts.at_stage(Stage::InDoubt) > 0)
}

#[inline]
pub(super) fn check_opposite_open(proposal: &Proposal, view: View<'_>) -> Ruling {
    let opposite = view.counts.in_direction(proposal.direction.opposite());
    refuse_if(!view.limits.allow_opposite && opposite > 0)
}

/// Close times are nominal, counted from the decisions and the entry delays of the bots. Those of
/// the venue differ by its latency.
#[inline]
pub(super) fn check_duplicate_open(proposal: &Proposal, view: View<'_>) -> Ruling {
    let Proposal { direction, nominal_close, .. } = *proposal;
    let may_be = !view.limits.allow_duplicate && view.counts.in_direction(direction) > 0;
    // Nearly always it is meant to close later than all before it.
    refuse_if(may_be && view.counts.may_close_at(nominal_close) && is_same_open(proposal, view))
}

#[inline(never)]
fn is_same_open(proposal: &Proposal, view: View<'_>) -> bool {
    let Proposal { direction, nominal_close, .. } = *proposal;
    let mut trades = view.intents.on_symbol(proposal.symbol);
    trades.any(|trade| trade.direction == direction && trade.nominal_close == nominal_close)
}

#[inline]
pub(super) fn check_max_open_trades(_: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(is_reached(view.limits.max_open_trades, view.intents.trades()))
}

#[inline]
const fn is_reached(most: usize, count: usize) -> bool {
    most > 0 && count >= most
}

impl Limits {
    #[inline]
    pub(crate) fn is_full(&self, intents: &Intents, on_symbol: &IntentCounts) -> bool {
        is_reached(self.max_open_trades, intents.trades()) || is_full_on_symbol(self, on_symbol)
    }
}

#[inline]
pub(super) fn check_max_open_trades_per_symbol(_: &Proposal, view: View<'_>) -> Ruling {
    refuse_if(is_full_on_symbol(view.limits, view.counts))
}

#[inline]
fn is_full_on_symbol(limits: &Limits, on_symbol: &IntentCounts) -> bool {
    is_reached(limits.max_open_trades_per_symbol, on_symbol.all() as usize)
}

#[inline]
pub(super) fn check_max_trades_per_hour(proposal: &Proposal, view: View<'_>) -> Ruling {
    let most = view.limits.max_trades_per_hour;
    refuse_if(most > 0 && view.state.trades_after(proposal.at - Millis::HOUR) >= most)
}

pub(super) fn check_max_trades_per_day(_proposal: &Proposal, view: View<'_>) -> Ruling {
    let most = view.limits.max_trades_per_day;
    refuse_if(most > 0 && view.state.trades_today >= most)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    #[test]
    fn the_same_bet_twice_refuses_unless_allowed() {
        for (allowed, expected) in [(false, Ruling::Refuse), (true, Ruling::Pass)] {
            let mut situation = Situation::with(|risk| risk.allow_duplicate = allowed);
            situation.begin(Situation::SYMBOL, Stage::Open);
            assert_eq!(situation.ask(check_duplicate_open), expected, "allow_duplicate = {allowed}");
            situation.proposal.nominal_close += Millis::MINUTE;
            assert_eq!(situation.ask(check_duplicate_open), Ruling::Pass, "another close time");
        }
    }

    #[test]
    fn the_same_bet_is_found_beside_others_that_close_later_or_earlier() {
        for minutes in [[0, 1], [1, 0], [0, -1], [-1, 0]] {
            let mut situation = Situation::default();
            let close = situation.proposal.nominal_close;
            for later in minutes {
                situation.proposal.nominal_close = close + Millis::MINUTE * later;
                situation.begin(Situation::SYMBOL, Stage::Open);
            }
            for (later, expected) in [(-2, Ruling::Pass), (0, Ruling::Refuse), (2, Ruling::Pass)] {
                situation.proposal.nominal_close = close + Millis::MINUTE * later;
                assert_eq!(situation.ask(check_duplicate_open), expected, "{minutes:?} {later}");
            }
        }
    }

    #[test]
    fn intents_that_were_read_back_are_found_too() {
        let mut situation = Situation::default();
        situation.begin(Situation::SYMBOL, Stage::Open);
        let kept = serde_json::to_string(&situation.intents).unwrap();
        situation.intents = serde_json::from_str(&kept).unwrap();
        assert_eq!(situation.ask(check_duplicate_open), Ruling::Refuse);
    }

    fn ask(all: u32, per_symbol: u32, here: usize, elsewhere: usize) -> [Ruling; 2] {
        let mut situation = Situation::with(|risk| {
            (risk.max_open_trades, risk.max_open_trades_per_symbol) = (all, per_symbol);
        });
        (0..here).for_each(|_| situation.begin(Situation::SYMBOL, Stage::Open));
        (0..elsewhere).for_each(|_| situation.begin(Situation::other_symbol(), Stage::InFlight));
        let rulings = [situation.ask(check_max_open_trades), situation.ask(check_max_open_trades_per_symbol)];
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
                let [all, symbol] =
                    [situation.ask(check_max_open_trades), situation.ask(check_max_open_trades_per_symbol)];
                if all == Ruling::Pass { symbol } else { all }
            };
            let id = situation.intents.next;
            situation.begin(Situation::SYMBOL, Stage::Open);
            situation.intents.begin_second(id);
            assert_eq!(ask(&situation), Ruling::Refuse);
            situation.intents.settle(id);
            assert_eq!(ask(&situation), Ruling::Pass);
            situation.begin(Situation::SYMBOL, Stage::Open);
            assert_eq!(ask(&situation), Ruling::Refuse);
            situation.intents.end_second(id);
            assert_eq!(ask(&situation), Ruling::Pass);
        }
    }

    #[test]
    fn the_sixty_minutes_slide() {
        let mut situation = Situation::with(|risk| risk.max_trades_per_hour = 2);
        let now = situation.proposal.at;
        situation.state.count_trade(&situation.limits, now - Millis::HOUR);
        situation.state.count_trade(&situation.limits, now - Millis::MINUTE);
        assert_eq!(situation.ask(check_max_trades_per_hour), Ruling::Pass, "one of them is 60 minutes old");
        situation.state.count_trade(&situation.limits, now);
        assert_eq!(situation.ask(check_max_trades_per_hour), Ruling::Refuse);
        situation.state.uncount_trade(now);
        assert_eq!(situation.ask(check_max_trades_per_hour), Ruling::Pass, "it never came to be");
    }

    #[test]
    fn a_trade_that_came_to_be_late_makes_no_other_forgotten() {
        let mut situation = Situation::with(|risk| risk.max_trades_per_hour = 2);
        let at = |minutes: i64| situation.proposal.at - Millis::MINUTE * minutes;
        let (first, late, gone) = (at(30), at(20), at(10));
        situation.state.count_trade(&situation.limits, first);
        situation.state.count_trade(&situation.limits, late);
        situation.state.uncount_trade(late);
        situation.state.count_trade(&situation.limits, gone);
        situation.state.recount_trade(&situation.limits, late);
        situation.state.uncount_trade(gone);
        assert_eq!(situation.ask(check_max_trades_per_hour), Ruling::Refuse, "two of this hour's came to be");
    }

    #[test]
    fn a_new_day_counts_anew_and_a_limit_of_zero_refuses_nothing() {
        let mut unlimited = Situation::with(|risk| risk.max_trades_per_day = 0);
        for _ in 0..500 {
            unlimited.state.count_trade(&unlimited.limits, unlimited.proposal.at);
        }
        assert_eq!(unlimited.ask(check_max_trades_per_day), Ruling::Pass);
        let mut situation = Situation::with(|risk| risk.max_trades_per_day = 1);
        situation.state.count_trade(&situation.limits, situation.proposal.at);
        assert_eq!(situation.ask(check_max_trades_per_day), Ruling::Refuse);
        situation.state.open_day(situation.proposal.at);
        assert_eq!(situation.ask(check_max_trades_per_day), Ruling::Pass);
    }
}
