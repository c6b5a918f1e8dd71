//! `OutsideHours`: the time is outside all trading windows.

use super::hours::Window;
use super::{Proposal, Ruling, View, refuse_if};
use candlewick_sdk::Millis;

#[inline]
pub(super) fn check(proposal: &Proposal, view: View<'_>) -> Ruling {
    let hours = &view.limits.hours;
    if hours.is_empty() { Ruling::Pass } else { check_hours(hours, proposal.at) }
}

#[inline(never)]
fn check_hours(hours: &[Window], at: Millis) -> Ruling {
    refuse_if(!hours.iter().any(|window| window.contains(at)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use crate::Hours;

    #[test]
    fn a_signal_outside_every_window_is_refused() {
        let window = |from: &str, to: &str| Hours {
            days: Vec::new(),
            from: from.to_owned(),
            to: to.to_owned(),
            timezone: "UTC".to_owned(),
        };
        let mut situation =
            Situation::with(|risk| risk.hours = vec![window("08:00", "10:00"), window("20:00", "21:00")]);
        for (hour, expected) in
            [(8, Ruling::Pass), (10, Ruling::Refuse), (20, Ruling::Pass), (21, Ruling::Refuse)]
        {
            situation.proposal.at = Millis::HOUR * hour;
            assert_eq!(situation.ask(check), expected, "{hour}:00");
        }
    }
}
