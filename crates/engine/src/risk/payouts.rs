//! Payout rules: the minimum payout, and the choice of the symbol with the best payout.
//!
//! The venue states a payout only in its reply to an order, so one trade at the minimum stake may probe the payout.

use super::{Limits, Proposal, RiskState, RiskView, Ruling, refuse_if};
use crate::SymbolId;
use candlewick_sdk::Millis;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PayoutProbe {
    NotNeeded,
    Needed,
}

impl PayoutProbe {
    pub(crate) fn for_symbol(limits: &Limits, state: &RiskState, symbol: SymbolId, now: Millis) -> Self {
        let is_unknown = || state.payout(symbol, now, limits.payout_max_age).is_none();
        if limits.needs_payout(symbol) && is_unknown() { Self::Needed } else { Self::NotNeeded }
    }
}

#[inline]
pub(super) fn check_min_payout(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let Some(least) = view.limits.min_payout(proposal.symbol) else { return Ruling::Pass };
    match view.state.payout(proposal.symbol, proposal.at, view.limits.payout_max_age) {
        Some(payout) => refuse_if(payout < least),
        None => refuse_if(view.state.probing_intent(proposal.symbol).is_some()),
    }
}

/// Rejects a signal if another symbol of `best_payout_of` has a better last known payout.
/// Symbols without a signal are compared too, so the result does not depend on the order of the bots.
#[inline]
pub(super) fn check_best_payout(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let is_listed = view.limits.best_payout_ids.contains(&proposal.symbol);
    if is_listed { check_other_payouts(proposal, view) } else { Ruling::Pass }
}

#[inline(never)]
fn check_other_payouts(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let RiskView { limits, state, .. } = view;
    let payout_of = |symbol| state.payout(symbol, proposal.at, limits.payout_max_age);
    let Some(own) = payout_of(proposal.symbol) else {
        return refuse_if(state.probing_intent(proposal.symbol).is_some());
    };
    let mut others = limits.best_payout_ids.iter().copied().filter(|symbol| *symbol != proposal.symbol);
    refuse_if(others.any(|symbol| match payout_of(symbol) {
        Some(payout) => payout > own || (payout == own && has_simultaneous_trade(symbol, proposal, view)),
        None => false,
    }))
}

fn has_simultaneous_trade(symbol: SymbolId, proposal: &Proposal, view: RiskView<'_>) -> bool {
    view.intents.on_symbol(symbol).any(|trade| trade.decision_time == proposal.at)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use crate::IntentId;
    use crate::intent::IntentStage;
    use candlewick_sdk::Payout;

    fn probe(of: &Situation) -> PayoutProbe {
        PayoutProbe::for_symbol(&of.limits, &of.state, Situation::SYMBOL, of.proposal.at)
    }

    #[test]
    fn minimum_payout_of_a_symbol_overrides_that_of_all() {
        // 80 % for all, 85 % for EURUSD, none for GBPUSD.
        for (symbol, percent, expected) in [
            ("EURUSD", 84, Ruling::Refuse),
            ("EURUSD", 85, Ruling::Pass),
            ("GBPUSD", 1, Ruling::Pass),
            ("BTCUSDT", 79, Ruling::Refuse),
            ("BTCUSDT", 80, Ruling::Pass),
        ] {
            let mut situation = Situation::with(|risk| {
                risk.min_payout_percent = 80.0;
                let own = [("EURUSD", 85.0), ("GBPUSD", 0.0)];
                risk.min_payout_percent_by_symbol = own.map(|(name, least)| (name.to_owned(), least)).into();
            });
            situation.know_symbols(&[symbol]);
            assert_eq!(probe(&situation) == PayoutProbe::NotNeeded, symbol == "GBPUSD", "{symbol}");
            pays(&mut situation, 0, percent, 0);
            assert_eq!(situation.ask(check_min_payout), expected, "{symbol} {percent} %");
        }
    }

    fn choosing_among(names: &[&str]) -> Situation {
        let mut situation = Situation::with(|risk| {
            risk.best_payout_of = names.iter().map(ToString::to_string).collect();
            risk.payout_max_age_s = 60;
        });
        situation.know_symbols(&["EURUSD", "GBPUSD", "BTCUSDT"]);
        situation.state.ensure_symbols(3);
        situation
    }

    /// Records that a symbol pays `percent`. The payout was reported `seconds` ago.
    fn pays(situation: &mut Situation, symbol: usize, percent: u32, seconds: i64) {
        let payout = Payout::from_parts(percent * 10_000).unwrap();
        let seen = situation.proposal.at - Millis::from_seconds(seconds);
        situation.state.record_payout(SymbolId::new(symbol).unwrap(), payout, seen);
    }

    #[test]
    fn rejects_symbol_if_another_of_the_list_pays_more() {
        for (gbp, seconds, expected) in
            [(84, 0, Ruling::Pass), (85, 0, Ruling::Pass), (86, 60, Ruling::Refuse), (86, 61, Ruling::Pass)]
        {
            let mut situation = choosing_among(&["GBPUSD", "EURUSD"]);
            pays(&mut situation, 0, 85, 0);
            pays(&mut situation, 1, gbp, seconds);
            pays(&mut situation, 2, 99, 0);
            assert_eq!(situation.ask(check_best_payout), expected, "{gbp} % since {seconds} s");
        }
        for names in [&[][..], &["GBPUSD", "BTCUSDT"], &["EURUSD", "XAUUSD"]] {
            let mut situation = choosing_among(names);
            pays(&mut situation, 0, 60, 0);
            pays(&mut situation, 1, 90, 0);
            assert_eq!(situation.ask(check_best_payout), Ruling::Pass, "{names:?} does not include it");
        }
    }

    #[test]
    fn first_of_two_equal_payouts_at_a_time_is_traded() {
        for (gbp, earlier, expected) in
            [(85, 0, Ruling::Refuse), (85, 1, Ruling::Pass), (84, 0, Ruling::Pass)]
        {
            let mut situation = choosing_among(&["GBPUSD", "EURUSD"]);
            pays(&mut situation, 0, 85, 0);
            pays(&mut situation, 1, gbp, 0);
            let at = situation.proposal.at;
            situation.proposal.at = at - Millis::from_seconds(earlier);
            situation.begin(SymbolId::new(1).unwrap(), IntentStage::InFlight);
            situation.proposal.at = at;
            assert_eq!(situation.ask(check_best_payout), expected, "{gbp} %, {earlier} s before");
        }
    }

    #[test]
    fn one_trade_at_minimum_stake_probes_an_unknown_payout() {
        let mut situation = choosing_among(&["GBPUSD", "EURUSD"]);
        pays(&mut situation, 1, 99, 0);
        assert_eq!(
            (probe(&situation), situation.ask(check_best_payout)),
            (PayoutProbe::Needed, Ruling::Pass)
        );
        situation.state.begin_probe(Situation::SYMBOL, IntentId::new(1));
        assert_eq!(situation.ask(check_best_payout), Ruling::Refuse);
        pays(&mut situation, 0, 85, 0);
        assert_eq!(
            (probe(&situation), situation.ask(check_best_payout)),
            (PayoutProbe::NotNeeded, Ruling::Refuse)
        );
    }
}
