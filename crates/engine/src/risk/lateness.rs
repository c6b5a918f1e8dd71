//! Age of a signal when it was judged, and the allowed age, for display.

use super::{RiskSettings, Rule};
use candlewick_sdk::Millis;
use std::fmt;

/// The age of a signal with the maximum age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    age: Millis,
    /// `None` if unknown or unlimited.
    allowed: Option<Millis>,
}

impl Lateness {
    /// Computes the lateness of a signal from the times it was given and judged.
    ///
    /// `interval` is the length of the bot's candles, `risk` the settings in force if they are
    /// known.
    pub fn of((given, judged): (Millis, Millis), interval: Millis, risk: Option<&RiskSettings>) -> Self {
        let most = risk.map(|risk| Millis::new(i64::from(risk.max_signal_delay_ms)));
        let most = most.filter(|most| *most > Millis::ZERO);
        let allowed = most.map(|most| most.min(Millis::new(interval.get() / 2)));
        Self { age: judged - given, allowed }
    }
}

impl Rule {
    /// Returns the text of a refusal, with the lateness if the rule is `LateSignal`.
    #[must_use]
    pub fn with_lateness(self, words: String, lateness: Lateness) -> String {
        match words.strip_suffix(')').filter(|_| self == Self::LateSignal) {
            Some(open) => format!("{open}: {lateness})"),
            None => words,
        }
    }
}

/// For example `12.4 s old, 5 s allowed`. The allowed age is omitted if the signal was younger,
/// because it then had a limit of its own.
impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s old", seconds(self.age))?;
        match self.allowed.filter(|allowed| self.age > *allowed) {
            Some(allowed) => write!(f, ", {} s allowed", seconds(allowed)),
            None => Ok(()),
        }
    }
}

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
