//! How old a signal was when it was judged, and how old it might have been: for people.

use super::{RiskSettings, Rule};
use candlewick_sdk::Millis;
use std::fmt;

/// How old a signal was, and how old it might have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    age: Millis,
    /// None where that is not known, or has no bound.
    allowed: Option<Millis>,
}

impl Lateness {
    /// Of a signal that was given at one moment and judged at another, for a bot with candles of this length. The settings are those that were in
    /// force, where they are known.
    pub fn of((given, judged): (Millis, Millis), interval: Millis, risk: Option<&RiskSettings>) -> Self {
        let most = risk.map(|risk| Millis::new(i64::from(risk.max_signal_delay_ms)));
        let most = most.filter(|most| *most > Millis::ZERO);
        let allowed = most.map(|most| most.min(Millis::new(interval.get() / 2)));
        Self { age: judged - given, allowed }
    }
}

impl Rule {
    /// The words of a refusal with how late its signal was, where it was refused for that.
    #[must_use]
    pub fn with_lateness(self, words: String, lateness: Lateness) -> String {
        match words.strip_suffix(')').filter(|_| self == Self::LateSignal) {
            Some(open) => format!("{open}: {lateness})"),
            None => words,
        }
    }
}

/// `12.4 s old, 5 s allowed`. One that was refused at an age that is allowed had a limit of its own: then that is left out.
impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s old", seconds(self.age))?;
        match self.allowed.filter(|allowed| self.age > *allowed) {
            Some(allowed) => write!(f, ", {} s allowed", seconds(allowed)),
            None => Ok(()),
        }
    }
}

/// Seconds with as many decimals as there are, at most three.
fn seconds(length: Millis) -> String {
    let ms = length.get().unsigned_abs();
    let sign = if length < Millis::ZERO { "-" } else { "" };
    let text = format!("{sign}{}.{:03}", ms / 1_000, ms % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(age_ms: i64, interval_ms: i64, risk: Option<&RiskSettings>) -> String {
        let given = Millis::new(1_000_000);
        let lateness = Lateness::of((given, given + Millis::new(age_ms)), Millis::new(interval_ms), risk);
        Rule::LateSignal.with_lateness(Rule::LateSignal.words(), lateness)
    }

    #[test]
    fn a_late_signal_says_how_old_it_was_and_how_old_it_might_have_been() {
        let risk = RiskSettings { max_signal_delay_ms: 5_000, ..RiskSettings::default() };
        let off = RiskSettings { max_signal_delay_ms: 0, ..RiskSettings::default() };
        let expected = |age| format!("late signal (LateSignal: {age})");
        assert_eq!(words(12_400, 60_000, Some(&risk)), expected("12.4 s old, 5 s allowed"));
        assert_eq!(words(5_001, 60_000, Some(&risk)), expected("5.001 s old, 5 s allowed"));
        // Half a candle of 5 s.
        assert_eq!(words(2_600, 5_000, Some(&risk)), expected("2.6 s old, 2.5 s allowed"));
        // By its own limit.
        assert_eq!(words(4_000, 60_000, Some(&risk)), expected("4 s old"));
        assert_eq!(words(12_400, 60_000, None), expected("12.4 s old"));
        assert_eq!(words(12_400, 60_000, Some(&off)), expected("12.4 s old"));
        let lateness = Lateness::of((Millis::ZERO, Millis::SECOND), Millis::MINUTE, Some(&risk));
        assert_eq!(
            Rule::InFlight.with_lateness(Rule::InFlight.words(), lateness),
            "order in flight (InFlight)"
        );
    }
}
