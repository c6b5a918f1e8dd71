//! Rules on open trades, pending orders and the number of trades.

use super::{Limits, Proposal, RiskView, Ruling, refuse_if};
use crate::intent::{IntentCounts, IntentStage, Intents};
use candlewick_sdk::Millis;

#[inline]
pub(super) fn check_in_flight(_: &Proposal, view: RiskView<'_>) -> Ruling {
    refuse_if(view.counts.at_stage(IntentStage::InFlight) > 0)
}

#[inline]
pub(super) fn check_in_doubt(_: &Proposal, view: RiskView<'_>) -> Ruling {
    refuse_if(view.counts.at_stage(IntentStage::InDoubt) > 0)
}

#[inline]
pub(super) fn check_opposite_open(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let opposite = view.counts.in_direction(proposal.direction.opposite());
    refuse_if(!view.limits.allow_opposite && opposite > 0)
}

/// Rejects a trade that would close at the same time as a trade in the same direction on the same symbol.
/// Compares nominal close times, because the venue's close times vary with its latency.
#[inline]
pub(super) fn check_duplicate_open(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let Proposal { direction, nominal_close, .. } = *proposal;
    let may_be = !view.limits.allow_duplicate && view.counts.in_direction(direction) > 0;
    // Fast path: most trades close later than all earlier trades.
    refuse_if(may_be && view.counts.may_close_at(nominal_close) && has_duplicate(proposal, view))
}

#[inline(never)]
fn has_duplicate(proposal: &Proposal, view: RiskView<'_>) -> bool {
    let Proposal { direction, nominal_close, .. } = *proposal;
    let mut trades = view.intents.on_symbol(proposal.symbol);
    trades.any(|trade| trade.direction == direction && trade.nominal_close == nominal_close)
}

#[inline]
pub(super) fn check_max_open_trades(_: &Proposal, view: RiskView<'_>) -> Ruling {
    refuse_if(is_cap_reached(view.limits.max_open_trades, view.intents.trade_count()))
}

#[inline]
const fn is_cap_reached(cap: usize, count: usize) -> bool {
    cap > 0 && count >= cap
}

impl Limits {
    #[inline]
    pub(crate) fn is_open_trade_cap_reached(&self, intents: &Intents, on_symbol: &IntentCounts) -> bool {
        is_cap_reached(self.max_open_trades, intents.trade_count()) || is_symbol_cap_reached(self, on_symbol)
    }
}

#[inline]
pub(super) fn check_max_open_trades_per_symbol(_: &Proposal, view: RiskView<'_>) -> Ruling {
    refuse_if(is_symbol_cap_reached(view.limits, view.counts))
}

#[inline]
fn is_symbol_cap_reached(limits: &Limits, on_symbol: &IntentCounts) -> bool {
    is_cap_reached(limits.max_open_trades_per_symbol, on_symbol.total() as usize)
}

#[inline]
pub(super) fn check_max_trades_per_hour(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let most = view.limits.max_trades_per_hour;
    refuse_if(most > 0 && view.state.trade_count_after(proposal.at - Millis::HOUR) >= most)
}

pub(super) fn check_max_trades_per_day(_proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let most = view.limits.max_trades_per_day;
    refuse_if(most > 0 && view.state.trades_today >= most)
}

#[cfg(test)]
mod tests {
    use super::super::Check;
    use super::super::testing::Situation;
    use super::*;
    use Ruling::{Pass, Refuse};
    use serde_json::json;

    #[test]
    fn rejects_duplicate_open_unless_allowed() {
        for (allowed, expected) in [(false, Refuse), (true, Pass)] {
            let mut situation = Situation::with(|risk| risk.allow_duplicate = allowed);
            situation.begin(Situation::SYMBOL, IntentStage::Open);
            assert_eq!(situation.ask(check_duplicate_open), expected, "allow_duplicate = {allowed}");
            situation.proposal.nominal_close += Millis::MINUTE;
            assert_eq!(situation.ask(check_duplicate_open), Pass, "another close time");
        }
    }

    #[test]
    fn finds_duplicate_among_trades_with_other_close_times_and_after_a_restore() {
        for minutes in [[0, 1], [1, 0], [0, -1], [-1, 0]] {
            let mut situation = Situation::default();
            let close = situation.proposal.nominal_close;
            for later in minutes {
                situation.proposal.nominal_close = close + Millis::MINUTE * later;
                situation.begin(Situation::SYMBOL, IntentStage::Open);
            }
            let kept = serde_json::to_string(&situation.intents).unwrap();
            situation.intents = serde_json::from_str(&kept).unwrap();
            for (later, expected) in [(-2, Pass), (0, Refuse), (2, Pass)] {
                situation.proposal.nominal_close = close + Millis::MINUTE * later;
                assert_eq!(situation.ask(check_duplicate_open), expected, "{minutes:?} {later}");
            }
        }
    }

    #[test]
    fn limits_apply_independently_and_zero_disables_them() {
        for (all, per_symbol, here, elsewhere, expected) in [
            (3, 1, 0, 2, [Pass, Pass]),
            (3, 1, 0, 3, [Refuse, Pass]),
            (3, 1, 1, 0, [Pass, Refuse]),
            (3, 1, 1, 2, [Refuse, Refuse]),
            (0, 0, 50, 50, [Pass, Pass]),
        ] {
            let settings = json!({ "max_open_trades": all, "max_open_trades_per_symbol": per_symbol });
            let mut situation = Situation::from_json(&settings);
            (0..here).for_each(|_| situation.begin(Situation::SYMBOL, IntentStage::Open));
            (0..elsewhere).for_each(|_| situation.begin(Situation::other_symbol(), IntentStage::InFlight));
            let rules: [Check; 2] = [check_max_open_trades, check_max_open_trades_per_symbol];
            assert_eq!(rules.map(|rule| situation.ask(rule)), expected, "{settings} {here} {elsewhere}");
            let Situation { limits, intents, .. } = &situation;
            let is_full = limits.is_open_trade_cap_reached(intents, intents.counts(Situation::SYMBOL));
            assert_eq!(is_full, expected.contains(&Refuse));
        }
    }

    #[test]
    fn second_trade_of_a_request_counts_until_it_ends() {
        for (all, per_symbol) in [(2, 0), (0, 2)] {
            let settings = json!({ "max_open_trades": all, "max_open_trades_per_symbol": per_symbol });
            let mut situation = Situation::from_json(&settings);
            let id = situation.intents.next;
            let mut is_full = |change: &dyn Fn(&mut Situation)| {
                change(&mut situation);
                let rules: [Check; 2] = [check_max_open_trades, check_max_open_trades_per_symbol];
                rules.map(|rule| situation.ask(rule)).contains(&Refuse)
            };
            let begin = |situation: &mut Situation| situation.begin(Situation::SYMBOL, IntentStage::Open);
            assert!(!is_full(&begin));
            assert!(is_full(&|situation| situation.intents.add_duplicate(id)));
            assert!(!is_full(&|situation| _ = situation.intents.remove_settled(id)));
            assert!(is_full(&begin));
            assert!(!is_full(&|situation| _ = situation.intents.remove_duplicate(id)));
        }
    }

    #[test]
    fn hourly_limit_uses_a_sliding_window() {
        let mut situation = Situation::with(|risk| risk.max_trades_per_hour = 2);
        let now = situation.proposal.at;
        situation.state.count_trade(&situation.limits, now - Millis::HOUR);
        situation.state.count_trade(&situation.limits, now - Millis::MINUTE);
        assert_eq!(situation.ask(check_max_trades_per_hour), Pass, "one of them is 60 minutes old");
        situation.state.count_trade(&situation.limits, now);
        assert_eq!(situation.ask(check_max_trades_per_hour), Refuse);
        situation.state.uncount_trade(now);
        assert_eq!(situation.ask(check_max_trades_per_hour), Pass, "it was never opened");
    }

    #[test]
    fn daily_limit_of_zero_rejects_nothing() {
        let mut situation = Situation::from_json(&json!({ "max_trades_per_day": 0 }));
        situation.state.count_trade(&situation.limits, situation.proposal.at);
        assert_eq!(situation.ask(check_max_trades_per_day), Pass);
    }
}
