//! `SessionLossLimit`: the loss of the session could exceed its limit. Open trades count as lost.

use super::{Proposal, Ruling, View, refuse_if};

pub(super) fn check(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    if !view.limits.session.is_on() {
        return Ruling::Pass;
    }
    let session = view.state.session();
    let Some(limit) = view.limits.session.loss_limit.of(session.equity) else { return Ruling::Pass };
    let result = session.result(view.ledger.shortage());
    refuse_if(result - view.ledger.open_stakes() - proposal.stake < -limit)
}

#[cfg(test)]
mod tests {
    use super::super::session_profit_target;
    use super::super::testing::Situation;
    use super::super::{Check, SessionLimitSettings};
    use super::*;
    use candlewick_sdk::Money;
    use candlewick_sdk::rust_decimal::Decimal;

    /// A session that began with 2,000.00 and has earned this; the stake is 10.00.
    fn ask(check: Check, limits: &SessionLimitSettings, profit: i64, open: i64) -> Ruling {
        let mut situation = Situation::with(|risk| risk.session = limits.clone());
        situation.state.session_mut().begin((Money::from_minor(200_000), Money::ZERO), None);
        situation.state.session_mut().profit = Money::from_minor(profit);
        situation.ledger.reserve(Money::from_minor(open));
        situation.ask(check)
    }

    #[test]
    fn losses_of_the_session_open_stakes_and_this_stake_stay_within_the_tighter_limit() {
        let amount = |units| SessionLimitSettings {
            loss_limit: Decimal::new(units, 2),
            ..SessionLimitSettings::default()
        };
        let both = SessionLimitSettings { loss_limit_percent: 2.0, ..amount(5_000) };
        for (limits, profit, open, expected) in [
            (&amount(5_000), -4_000, 0, Ruling::Pass),
            (&amount(5_000), -4_001, 0, Ruling::Refuse),
            (&amount(5_000), -2_000, 2_001, Ruling::Refuse),
            // 2 % of 2,000.00 are 40.00.
            (&both, -3_000, 0, Ruling::Pass),
            (&both, -3_001, 0, Ruling::Refuse),
            (&SessionLimitSettings::default(), -199_000, 0, Ruling::Pass),
        ] {
            assert_eq!(ask(check, limits, profit, open), expected, "{limits:?} {profit} {open}");
        }
    }

    #[test]
    fn a_reached_target_of_the_session_refuses() {
        let limits = SessionLimitSettings {
            profit_target: Decimal::from(50),
            profit_target_percent: 1.5,
            ..SessionLimitSettings::default()
        };
        for (profit, expected) in [(2_999, Ruling::Pass), (3_000, Ruling::Refuse)] {
            assert_eq!(ask(session_profit_target::check, &limits, profit, 0), expected, "{profit}");
        }
    }
}
