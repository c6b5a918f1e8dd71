//! Finding: a limit that requires a manual resume stopped the run before its end.

use super::{Finding, FindingKind, Severity};
use crate::figure::minute;
use candlewick_engine::Rule;
use candlewick_records::counted;
use candlewick_sdk::Millis;
use std::collections::BTreeMap;
use std::ops::Range;

/// Minimum untraded share of the run's time; less is ignored.
const NOTABLE: f64 = 0.02;
/// From this untraded share on, the result is that of the limit.
const MOST: f64 = 0.5;

pub(super) fn find(
    refused_since: &BTreeMap<&'static str, u64>,
    candles: Option<u64>,
    (last_open, span): (Option<Millis>, &Range<Millis>),
) -> Option<Finding> {
    let lifted_by_a_person = |name: &&str| {
        Rule::ALL.into_iter().any(|rule| rule.as_str() == *name && (rule.is_final() || rule == Rule::Halted))
    };
    // What was refused before the last trade left nothing untraded after it.
    let refused = refused_since.iter().filter(|(name, _)| lifted_by_a_person(name));
    let (rule, _) = refused.clone().max_by_key(|(_, count)| **count)?;
    let signals: u64 = refused.map(|(_, count)| count).sum();
    // Where nothing was traded at all, another finding says so.
    let since = last_open?;
    let (untraded, whole) = ((span.end - since).get() as f64, (span.end - span.start).get() as f64);
    let share = untraded / whole;
    if share.is_nan() || share < NOTABLE {
        return None;
    }
    // Closed hours have no candles: they are counted, and not reckoned from the time.
    let percent = format!("{:.0} % of the run's time", share * 100.0);
    let untraded = match candles {
        Some(count) => format!("{}, {percent},", counted(count, "candle", "candles")),
        None => percent,
    };
    let text = format!(
        "No trade was opened after {} UTC: {rule} refused what came then ({}), and {untraded} went by untraded. The \
         figures are those of the part before it.",
        minute(since),
        counted(signals, "signal", "signals"),
    );
    let severity = if share >= MOST { Severity::Serious } else { Severity::Warning };
    Some(Finding { kind: FindingKind::HaltedEarly, severity, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a run of ten hours from 2025-01-01 00:00 UTC on.
    fn finding(refused: &[(&'static str, u64)], last_open_hours: Option<i64>) -> Option<Finding> {
        let hour = |hours: i64| Millis::new(1_735_689_600_000) + Millis::HOUR * hours;
        let refused = refused.iter().copied().collect();
        find(&refused, Some(100), (last_open_hours.map(hour), &(hour(0)..hour(10))))
    }

    #[test]
    fn a_limit_that_time_does_not_lift_is_reported_with_what_it_left_untraded() {
        let found =
            finding(&[("MaxDrawdown", 41), ("MaxOpenTrades", 900), ("LossStreak", 1)], Some(8)).unwrap();
        assert_eq!((found.kind, found.severity), (FindingKind::HaltedEarly, Severity::Warning));
        let expected = "No trade was opened after 2025-01-01 08:00 UTC: MaxDrawdown refused what came then (42 signals), \
                        and 100 candles, 20 % of the run's time, went by untraded.";
        assert!(found.text.starts_with(expected), "{}", found.text);
        assert_eq!(finding(&[("Halted", 1)], Some(2)).unwrap().severity, Severity::Serious);
    }

    #[test]
    fn other_rules_a_late_halt_and_a_run_without_trades_are_not_reported() {
        assert_eq!(finding(&[("DailyLossLimit", 900)], Some(2)), None, "the next day lifts it");
        assert_eq!(finding(&[("MaxDrawdown", 1)], Some(10)), None);
        assert_eq!(finding(&[("MaxDrawdown", 9)], None), None);
        assert_eq!(finding(&[], Some(1)), None);
    }
}
