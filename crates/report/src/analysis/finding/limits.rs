//! Findings about limits that decided the result in place of the strategy.

use super::{Finding, FindingKind, Severity};
use crate::figure::minute;
use candlewick_backtest::Summary;
use candlewick_engine::Rule;
use candlewick_records::counted;
use candlewick_sdk::Millis;
use std::collections::BTreeMap;
use std::ops::Range;

/// Minimum untraded share of the run's time; less is ignored.
const NOTABLE_HALT: f64 = 0.02;
/// From this untraded share on, the result is that of the limit.
const MOST_HALTED: f64 = 0.5;

pub(super) fn halted_early(
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
    if share.is_nan() || share < NOTABLE_HALT {
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
    let severity = if share >= MOST_HALTED { Severity::Serious } else { Severity::Warning };
    Some(FindingKind::HaltedEarly.with(severity, text))
}

/// Share of all signals from which a rule that refuses briefly or by schedule is reported.
const NEARLY_ALL: f64 = 0.90;
/// Share for other rules, such as a daily limit, from which the limit decides most of the result.
const MOST: f64 = 0.50;
/// With fewer signals, the finding requires that none was accepted.
const MIN_SIGNALS: u64 = 20;

pub(super) fn refused_by_one_rule(summary: &Summary) -> Option<Finding> {
    let opened = summary.trades + summary.unsettled;
    let signals = opened + summary.refused.values().sum::<u64>();
    let (rule, most) = summary.refused.iter().max_by_key(|(_, count)| **count)?;
    let share = *most as f64 / signals as f64;
    let (cause, cure) = cause_of(rule);
    let (severity, text) = if *most == signals {
        let all = format!("All {signals} signals were");
        let all = if signals == 1 { "The only signal was" } else { &all };
        (Severity::Serious, format!("{all} refused {cause}, {rule}: nothing was traded."))
    } else if opened == 0 || (share >= notable_share(rule) && signals >= MIN_SIGNALS) {
        let traded = if opened == 0 { "nothing was traded" } else { "what was traded is what it left" };
        let share = share * 100.0;
        let text =
            format!("{most} of {signals} signals ({share:.0} %) were refused {cause}, {rule}: {traded}.");
        (Severity::Warning, text)
    } else {
        return None;
    };
    Some(FindingKind::RefusedByOneRule.with(severity, format!("{text} {cure}")))
}

fn notable_share(name: &str) -> f64 {
    let is_usual = |rule: Rule| rule.is_brief() || matches!(rule, Rule::OutsideHours | Rule::Blackout);
    let rule = Rule::ALL.into_iter().find(|rule| rule.as_str() == name);
    if rule.is_some_and(is_usual) { NEARLY_ALL } else { MOST }
}

fn cause_of(name: &str) -> (&'static str, &'static str) {
    match name {
        "NoPrice" => (
            "for want of a price",
            "The candles have no price where these trades would have opened: `candlewick data check` lists their holes.",
        ),
        "Rejected" => (
            "by the venue",
            "`candlewick trades --state rejected` lists them, and `candlewick explain` has the venue's words for each.",
        ),
        "NotSent" => (
            "since they came too late to be sent",
            "The journal, the rate limit or the machine is too slow for `risk.max_signal_delay_ms`.",
        ),
        "GateClosed" => (
            "by the gate of their bot",
            "Those of its strategy were virtual trades, followed without money, and those from outside were not followed; what opens the gate stands in the bot's `params`.",
        ),
        _ => (
            "by one rule",
            "Its setting in [risk] says when it refuses; of a run with a journal `candlewick why` says more of each signal.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::TradeBook;
    use candlewick_sdk::Money;

    /// Of a run of ten hours from 2025-01-01 00:00 UTC on.
    fn finding(refused: &[(&'static str, u64)], last_open_hours: Option<i64>) -> Option<Finding> {
        let hour = |hours: i64| Millis::new(1_735_689_600_000) + Millis::HOUR * hours;
        let refused = refused.iter().copied().collect();
        halted_early(&refused, Some(100), (last_open_hours.map(hour), &(hour(0)..hour(10))))
    }

    #[test]
    fn a_limit_that_time_does_not_lift_is_reported_with_what_it_left_untraded() {
        use Severity::{Serious, Warning};
        for (refused, last_open_hours, expected) in [
            (&[("MaxDrawdown", 41), ("MaxOpenTrades", 9), ("LossStreak", 1)][..], Some(8), Some(Warning)),
            (&[("Halted", 1)], Some(2), Some(Serious)),
            // The next day lifts it, it comes late, or nothing was traded at all.
            (&[("DailyLossLimit", 900)], Some(2), None),
            (&[("MaxDrawdown", 1)], Some(10), None),
            (&[("MaxDrawdown", 9)], None, None),
            (&[], Some(1), None),
        ] {
            let found = finding(refused, last_open_hours);
            assert_eq!(found.as_ref().map(|finding| finding.severity), expected, "{refused:?}");
            let text = found.filter(|_| refused.len() == 3).map(|finding| finding.text);
            let parts = ["2025-01-01 08:00 UTC", "MaxDrawdown", "42 signals", "100 candles", "20 %"];
            assert!(text.is_none_or(|text| parts.iter().all(|part| text.contains(part))));
        }
    }

    #[test]
    fn signals_that_one_rule_refused_are_reported_and_those_that_came_through_are_not() {
        use Severity::{Serious, Warning};
        let empty = Summary::of(&TradeBook::default(), Money::ZERO);
        for (trades, refused, expected) in [
            (0, &[("MinPayout", 512)][..], Some((Serious, "All 512 signals were refused by one rule"))),
            (0, &[("MinPayout", 1)], Some((Serious, "The only signal was refused by one rule"))),
            (0, &[("NoPrice", 7)], Some((Serious, "All 7 signals were refused for want of a price"))),
            (0, &[("Rejected", 7)], Some((Serious, "All 7 signals were refused by the venue, Rejected"))),
            (0, &[("NotSent", 7)], Some((Serious, "All 7 signals were refused since they came too late"))),
            (0, &[("GateClosed", 7)], Some((Serious, "All 7 signals were refused by the gate of their bot"))),
            (0, &[("MinPayout", 9), ("OutsideHours", 3)], Some((Warning, "9 of 12 signals (75 %)"))),
            (30, &[("MaxTradesPerDay", 970)], Some((Warning, "970 of 1000 signals (97 %)"))),
            (1_532, &[("DailyLossLimit", 8_168)], Some((Warning, "8168 of 9700 signals (84 %)"))),
            (501, &[("DailyLossLimit", 499)], None),
            // One trade at a time refuses most of many strategies, and trading hours do as they are set.
            (1_532, &[("MaxOpenTradesPerSymbol", 8_168)], None),
            (1_532, &[("OutsideHours", 8_168)], None),
            (1, &[("MaxOpenTrades", 9)], None),
            (500, &[("MaxOpenTrades", 490)], None),
            (0, &[], None),
        ] {
            let summary = Summary { trades, refused: refused.iter().copied().collect(), ..empty.clone() };
            let found = refused_by_one_rule(&summary);
            let severity = found.as_ref().map(|finding| finding.severity);
            assert_eq!(severity, expected.map(|(severity, _)| severity), "{trades} {refused:?}");
            let says = expected.map_or("", |(_, says)| says);
            assert!(found.is_none_or(|finding| finding.text.starts_with(says)), "{says}");
        }
    }
}
