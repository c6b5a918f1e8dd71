//! `MinPayout`: the payout of the symbol is too low.
//!
//! Payouts are unknown before the reply to an order, so a single trade at the minimum stake may
//! probe it.

use super::{Limits, RiskState};
use super::{Proposal, Ruling, View, refuse_if};
use crate::SymbolId;
use candlewick_sdk::Millis;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    NotNeeded,
    Needed,
}

impl Probe {
    pub(crate) fn of(limits: &Limits, state: &RiskState, symbol: SymbolId, now: Millis) -> Self {
        let is_unknown = || state.payout(symbol, now, limits.payout_max_age).is_none();
        if limits.needs_payout(symbol) && is_unknown() { Self::Needed } else { Self::NotNeeded }
    }
}

#[inline]
pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let Some(least) = view.limits.min_payout(proposal.symbol) else { return Ruling::Pass };
    match view.state.payout(proposal.symbol, proposal.at, view.limits.payout_max_age) {
        Some(payout) => refuse_if(payout < least),
        None => refuse_if(view.state.probe(proposal.symbol).is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use crate::IntentId;
    use candlewick_sdk::Payout;

    fn situation() -> Situation {
        Situation::with(|risk| {
            risk.min_payout_percent = 80.0;
            risk.payout_max_age_s = 60;
        })
    }

    #[test]
    fn a_known_payout_below_the_minimum_refuses() {
        for (percent, expected) in [(79, Ruling::Refuse), (80, Ruling::Pass)] {
            let mut situation = situation();
            let payout = Payout::from_parts(percent * 10_000).unwrap();
            situation.state.record_payout(Situation::SYMBOL, payout, situation.proposal.at);
            assert_eq!(situation.ask(check), expected, "{percent} %");
        }
    }

    #[test]
    fn a_symbol_of_its_own_least_payout_is_held_to_that_and_others_to_the_one_of_all() {
        // Of all 80 %; EURUSD wants 85 %, GBPUSD nothing.
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
            let probe =
                Probe::of(&situation.limits, &situation.state, Situation::SYMBOL, situation.proposal.at);
            assert_eq!(probe == Probe::NotNeeded, symbol == "GBPUSD", "{symbol}");
            let payout = Payout::from_parts(percent * 10_000).unwrap();
            situation.state.record_payout(Situation::SYMBOL, payout, situation.proposal.at);
            assert_eq!(situation.ask(check), expected, "{symbol} {percent} %");
        }
    }

    #[test]
    fn an_unknown_payout_lets_one_probe_through() {
        let mut situation = situation();
        let now = situation.proposal.at;
        assert_eq!(Probe::of(&situation.limits, &situation.state, Situation::SYMBOL, now), Probe::Needed);
        assert_eq!(situation.ask(check), Ruling::Pass);
        situation.state.begin_probe(Situation::SYMBOL, IntentId::new(1));
        assert_eq!(situation.ask(check), Ruling::Refuse);
        situation.state.end_probe(Situation::SYMBOL, IntentId::new(1));
        assert_eq!(situation.ask(check), Ruling::Pass, "the probe was refused: another may try");
    }

    #[test]
    fn a_payout_is_found_out_only_where_it_matters_and_is_not_known() {
        let probe =
            |risk: &Situation| Probe::of(&risk.limits, &risk.state, Situation::SYMBOL, risk.proposal.at);
        assert_eq!(probe(&Situation::default()), Probe::NotNeeded, "no least payout is set");
        let mut situation = situation();
        assert_eq!(probe(&situation), Probe::Needed);
        let payout = Payout::from_parts(850_000).unwrap();
        situation.state.record_payout(Situation::SYMBOL, payout, situation.proposal.at);
        assert_eq!(probe(&situation), Probe::NotNeeded, "it is known");
    }

    #[test]
    fn an_old_payout_is_unknown() {
        let mut situation = situation();
        let seen = situation.proposal.at - Millis::from_seconds(61);
        situation.state.record_payout(Situation::SYMBOL, Payout::from_parts(10_000).unwrap(), seen);
        assert_eq!(situation.ask(check), Ruling::Pass);
        assert_eq!(
            Probe::of(&situation.limits, &situation.state, Situation::SYMBOL, situation.proposal.at),
            Probe::Needed
        );
    }
}
