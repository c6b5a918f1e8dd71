//! `ClockSkew`: the local clock differs too much from that of the venue.

use super::{Proposal, Ruling, View, refuse_if};
use candlewick_sdk::Millis;

pub(super) fn check(_proposal: &Proposal, view: View<'_>) -> Ruling {
    let (limit, skew) = (view.limits.max_clock_skew, view.state.skew());
    refuse_if(skew != Millis::ZERO && limit > Millis::ZERO && skew.abs_diff(Millis::ZERO) > limit)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    #[test]
    fn a_clock_beyond_the_limit_on_either_side_refuses() {
        for (skew_ms, limit_ms, expected) in [
            (2_000, 2_000, Ruling::Pass),
            (2_001, 2_000, Ruling::Refuse),
            (-2_001, 2_000, Ruling::Refuse),
            (99_999, 0, Ruling::Pass),
        ] {
            let mut situation = Situation::with(|risk| risk.max_clock_skew_ms = limit_ms);
            situation.state.record_skew(Millis::new(skew_ms));
            assert_eq!(situation.ask(check), expected, "{skew_ms} ms");
        }
    }
}
