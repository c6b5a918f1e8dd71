//! `BestPayout`: another symbol of `best_payout_of` is preferred.
//!
//! It pays more, or it pays as much and was traded at this moment. The last known payouts count,
//! with or without a signal, so the result does not depend on the order of the bots. An unknown
//! payout is probed with one trade at the minimum stake, as for `MinPayout`.

use super::{Proposal, Ruling, View, refuse_if};
use crate::SymbolId;

#[inline]
pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let is_chosen_among = view.limits.best_payout_of.contains(&proposal.symbol);
    if is_chosen_among { check_choice(proposal, view) } else { Ruling::Pass }
}

#[inline(never)]
fn check_choice(proposal: &Proposal, view: View<'_>) -> Ruling {
    let View { limits, state, .. } = view;
    let payout_of = |symbol| state.payout(symbol, proposal.at, limits.payout_max_age);
    let Some(own) = payout_of(proposal.symbol) else {
        return refuse_if(state.probe(proposal.symbol).is_some());
    };
    let mut others = limits.best_payout_of.iter().copied().filter(|symbol| *symbol != proposal.symbol);
    refuse_if(others.any(|symbol| match payout_of(symbol) {
        Some(payout) => payout > own || (payout == own && is_traded_now(symbol, proposal, view)),
        None => false,
    }))
}

fn is_traded_now(symbol: SymbolId, proposal: &Proposal, view: View<'_>) -> bool {
    view.intents.on_symbol(symbol).any(|trade| trade.decision_time == proposal.at)
}

#[cfg(test)]
mod tests {
    use super::super::Probe;
    use super::super::testing::Situation;
    use super::*;
    use crate::IntentId;
    use crate::intent::Stage;
    use candlewick_sdk::{Millis, Payout};

    /// EURUSD, the proposal's symbol, GBPUSD and one that stands beside the choice.
    fn situation(names: &[&str]) -> Situation {
        let mut situation = Situation::with(|risk| {
            risk.best_payout_of = names.iter().map(ToString::to_string).collect();
            risk.payout_max_age_s = 60;
        });
        situation.know_symbols(&["EURUSD", "GBPUSD", "BTCUSDT"]);
        situation.state.make_room(3);
        situation
    }

    /// A symbol pays this percent, known for so many seconds.
    fn pays(situation: &mut Situation, symbol: usize, percent: u32, seconds: i64) {
        let payout = Payout::from_parts(percent * 10_000).unwrap();
        let seen = situation.proposal.at - Millis::from_seconds(seconds);
        situation.state.record_payout(SymbolId::new(symbol).unwrap(), payout, seen);
    }

    #[test]
    fn a_symbol_is_traded_unless_another_of_the_choice_pays_more() {
        for (gbp, seconds, expected) in
            [(84, 0, Ruling::Pass), (85, 0, Ruling::Pass), (86, 60, Ruling::Refuse), (86, 61, Ruling::Pass)]
        {
            let mut situation = situation(&["GBPUSD", "EURUSD"]);
            pays(&mut situation, 0, 85, 0);
            pays(&mut situation, 1, gbp, seconds);
            // Not of the choice.
            pays(&mut situation, 2, 99, 0);
            assert_eq!(situation.ask(check), expected, "{gbp} % since {seconds} s");
        }
        for names in [&[][..], &["GBPUSD", "BTCUSDT"], &["EURUSD", "XAUUSD"]] {
            let mut situation = situation(names);
            pays(&mut situation, 0, 60, 0);
            pays(&mut situation, 1, 90, 0);
            assert_eq!(situation.ask(check), Ruling::Pass, "{names:?} is no choice of it");
        }
    }

    #[test]
    fn of_two_that_pay_the_same_the_first_at_one_moment_is_traded() {
        for (gbp, earlier, expected) in [
            (85, 0, Ruling::Refuse),
            (85, 1, Ruling::Pass),
            // A trade that finds out what its symbol pays is none that was chosen.
            (84, 0, Ruling::Pass),
        ] {
            let mut situation = situation(&["GBPUSD", "EURUSD"]);
            pays(&mut situation, 0, 85, 0);
            pays(&mut situation, 1, gbp, 0);
            let at = situation.proposal.at;
            situation.proposal.at = at - Millis::from_seconds(earlier);
            situation.begin(SymbolId::new(1).unwrap(), Stage::InFlight);
            situation.proposal.at = at;
            assert_eq!(situation.ask(check), expected, "{gbp} %, {earlier} s before");
        }
    }

    #[test]
    fn an_unknown_payout_is_found_out_by_one_trade_at_the_smallest_stake() {
        let mut situation = situation(&["GBPUSD", "EURUSD"]);
        pays(&mut situation, 1, 99, 0);
        let probe = |situation: &Situation| {
            Probe::of(&situation.limits, &situation.state, Situation::SYMBOL, situation.proposal.at)
        };
        assert_eq!((probe(&situation), situation.ask(check)), (Probe::Needed, Ruling::Pass));
        situation.state.begin_probe(Situation::SYMBOL, IntentId::new(1));
        assert_eq!(situation.ask(check), Ruling::Refuse);
        pays(&mut situation, 0, 85, 0);
        assert_eq!((probe(&situation), situation.ask(check)), (Probe::NotNeeded, Ruling::Refuse));
    }
}
