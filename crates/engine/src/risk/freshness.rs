//! Rules on signal age, candle age and clock skew. [`Lateness`] explains why a signal is late.

use super::{Limits, Proposal, RiskSettings, RiskView, Rule, Ruling, refuse_if};
use crate::Origin;
use candlewick_sdk::Millis;
use std::fmt;

pub(super) fn check_late_signal(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    // Backfilled candles only warm up strategies and never lead to trades.
    if proposal.origin == Origin::Backfill {
        return Ruling::Refuse;
    }
    // Fast path: most signals, and all signals in a backtest, arrive without delay.
    let is_at_once = proposal.received <= proposal.at;
    refuse_if(!is_at_once && proposal.received > send_deadline(view.limits, proposal.interval, proposal.at))
}

pub(crate) fn send_deadline(limits: &Limits, interval: Millis, at: Millis) -> Millis {
    if limits.max_signal_delay == Millis::ZERO {
        return Millis::MAX;
    }
    at + limits.max_signal_delay.min(Millis::new(interval.get() / 2))
}

pub(super) fn check_stale_data(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let (most, age) = (view.limits.stale_after_intervals, proposal.received - proposal.last_close);
    refuse_if(age > Millis::ZERO && most > 0 && age > proposal.interval * most)
}

pub(super) fn check_clock_skew(_proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let (limit, skew) = (view.limits.max_clock_skew, view.state.skew);
    refuse_if(skew != Millis::ZERO && limit > Millis::ZERO && skew.abs_diff(Millis::ZERO) > limit)
}

/// The age of a signal and the maximum allowed age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    age: Millis,
    allowed: Option<Millis>,
}

impl Lateness {
    /// Computes the lateness from the times at which the signal was given and judged.
    /// `interval` is the length of the bot's candles. `risk` contains the settings in force, `None` if unknown.
    pub fn new((given, judged): (Millis, Millis), interval: Millis, risk: Option<&RiskSettings>) -> Self {
        let most = risk.map(|risk| Millis::new(i64::from(risk.max_signal_delay_ms)));
        let most = most.filter(|most| *most > Millis::ZERO);
        let allowed = most.map(|most| most.min(Millis::new(interval.get() / 2)));
        Self { age: judged - given, allowed }
    }
}

impl Rule {
    /// Returns the rejection text, with the lateness inserted if the rule is `LateSignal`.
    #[must_use]
    pub fn add_lateness(self, text: String, lateness: Lateness) -> String {
        match text.strip_suffix(')').filter(|_| self == Self::LateSignal) {
            Some(open) => format!("{open}: {lateness})"),
            None => text,
        }
    }
}

/// Shows the age, and the limit if the age exceeds it. Otherwise, the signal is late because `expires` has passed.
impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s old", format_seconds(self.age))?;
        match self.allowed.filter(|allowed| self.age > *allowed) {
            Some(allowed) => write!(f, ", {} s allowed", format_seconds(allowed)),
            None => Ok(()),
        }
    }
}

pub(super) fn format_seconds(length: Millis) -> String {
    let ms = length.get().unsigned_abs();
    let sign = if length < Millis::ZERO { "-" } else { "" };
    let text = format!("{sign}{}.{:03}", ms / 1_000, ms % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;

    fn ask(delay_ms: i64, interval_ms: i64, limit_ms: u32) -> Ruling {
        let mut situation = Situation::with(|risk| risk.max_signal_delay_ms = limit_ms);
        situation.proposal.interval = Millis::new(interval_ms);
        situation.proposal.received = situation.proposal.at + Millis::new(delay_ms);
        situation.ask(check_late_signal)
    }

    #[test]
    fn signal_is_late_beyond_the_limit_or_half_its_interval_and_on_backfilled_candles() {
        assert_eq!([5_000, 5_001].map(|delay| ask(delay, 60_000, 5_000)), [Ruling::Pass, Ruling::Refuse]);
        assert_eq!([2_500, 2_501].map(|delay| ask(delay, 5_000, 5_000)), [Ruling::Pass, Ruling::Refuse]);
        assert_eq!(ask(50_000, 60_000, 0), Ruling::Pass);
        let mut situation = Situation::default();
        situation.proposal.origin = Origin::Backfill;
        assert_eq!(situation.ask(check_late_signal), Ruling::Refuse);
    }

    #[test]
    fn candle_older_than_the_allowed_intervals_is_stale() {
        for (age_ms, intervals, expected) in
            [(120_000, 2, Ruling::Pass), (120_001, 2, Ruling::Refuse), (9_000_000, 0, Ruling::Pass)]
        {
            let mut situation = Situation::with(|risk| risk.stale_after_intervals = intervals);
            situation.proposal.last_close = situation.proposal.received - Millis::new(age_ms);
            assert_eq!(situation.ask(check_stale_data), expected, "{age_ms} ms");
        }
    }

    #[test]
    fn rejects_clock_skew_beyond_the_limit_on_either_side() {
        for (skew_ms, limit_ms, expected) in [
            (2_000, 2_000, Ruling::Pass),
            (2_001, 2_000, Ruling::Refuse),
            (-2_001, 2_000, Ruling::Refuse),
            (99_999, 0, Ruling::Pass),
        ] {
            let mut situation = Situation::with(|risk| risk.max_clock_skew_ms = limit_ms);
            situation.state.skew = Millis::new(skew_ms);
            assert_eq!(situation.ask(check_clock_skew), expected, "{skew_ms} ms");
        }
    }

    #[test]
    fn lateness_shows_age_and_maximum_age() {
        let risk = RiskSettings { max_signal_delay_ms: 5_000, ..RiskSettings::default() };
        let off = RiskSettings { max_signal_delay_ms: 0, ..RiskSettings::default() };
        for (age_ms, interval_ms, risk, expected) in [
            (12_400, 60_000, Some(&risk), "12.4 s old, 5 s allowed"),
            (5_001, 60_000, Some(&risk), "5.001 s old, 5 s allowed"),
            (2_600, 5_000, Some(&risk), "2.6 s old, 2.5 s allowed"),
            (4_000, 60_000, Some(&risk), "4 s old"),
            (12_400, 60_000, None, "12.4 s old"),
            (12_400, 60_000, Some(&off), "12.4 s old"),
        ] {
            let judged = Millis::new(1_000_000 + age_ms);
            let lateness = Lateness::new((Millis::new(1_000_000), judged), Millis::new(interval_ms), risk);
            assert_eq!(lateness.to_string(), expected);
            let words = |rule: Rule| rule.add_lateness(rule.describe(), lateness);
            assert_eq!(words(Rule::LateSignal), format!("late signal (LateSignal: {expected})"));
            assert_eq!(words(Rule::InFlight), Rule::InFlight.describe());
        }
    }
}
