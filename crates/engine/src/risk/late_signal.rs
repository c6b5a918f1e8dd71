//! `LateSignal`: the signal is too old to trade.

use super::{Limits, Proposal, Ruling, View, refuse_if};
use crate::Origin;
use candlewick_sdk::Millis;

pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    // Candles that arrive by backfill warm strategies and never open.
    if proposal.origin == Origin::Backfill {
        return Ruling::Refuse;
    }
    // Nearly always, and always in a backtest, it came at once.
    let is_at_once = proposal.received <= proposal.at;
    refuse_if(
        !is_at_once && proposal.received > latest_departure(view.limits, proposal.interval, proposal.at),
    )
}

pub(crate) fn latest_departure(limits: &Limits, interval: Millis, at: Millis) -> Millis {
    if limits.max_signal_delay == Millis::ZERO {
        return Millis::MAX;
    }
    at + limits.max_signal_delay.min(Millis::new(interval.get() / 2))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    fn ask(delay_ms: i64, interval_ms: i64, limit_ms: u32) -> Ruling {
        let mut situation = Situation::with(|risk| risk.max_signal_delay_ms = limit_ms);
        situation.proposal.interval = Millis::new(interval_ms);
        situation.proposal.received = situation.proposal.at + Millis::new(delay_ms);
        situation.ask(check)
    }

    #[test]
    fn a_signal_is_late_beyond_the_limit_or_half_its_interval() {
        assert_eq!(ask(5_000, 60_000, 5_000), Ruling::Pass);
        assert_eq!(ask(5_001, 60_000, 5_000), Ruling::Refuse);
        assert_eq!(ask(2_500, 5_000, 5_000), Ruling::Pass);
        assert_eq!(ask(2_501, 5_000, 5_000), Ruling::Refuse);
        assert_eq!(ask(50_000, 60_000, 0), Ruling::Pass);
    }

    #[test]
    fn a_signal_on_a_backfilled_candle_is_always_late() {
        let mut situation = Situation::default();
        situation.proposal.origin = Origin::Backfill;
        assert_eq!(situation.ask(check), Ruling::Refuse);
    }
}
