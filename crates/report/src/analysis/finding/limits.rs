//! Findings about risk limits that determined the result more than the strategy did.

use super::{Finding, FindingKind, Severity};
use crate::figure::format_minute;
use candlewick_backtest::Summary;
use candlewick_engine::Rule;
use candlewick_records::count_text;
use candlewick_sdk::Millis;
use std::collections::BTreeMap;
use std::ops::Range;

const MIN_UNTRADED_SHARE: f64 = 0.02;
/// Minimum untraded share of the run's time for a serious finding. The limit then determines the result.
const SERIOUS_UNTRADED_SHARE: f64 = 0.5;

pub(super) fn check_early_halt(
    refused_since: &BTreeMap<&'static str, u64>,
    candles: Option<u64>,
    (last_decision, span): (Option<Millis>, &Range<Millis>),
) -> Option<Finding> {
    let is_lifted_manually = |name: &&str| {
        Rule::ALL.into_iter().any(|rule| rule.as_str() == *name && (rule.ends_run() || rule == Rule::Halted))
    };
    let refused = refused_since.iter().filter(|(name, _)| is_lifted_manually(name));
    let (rule, signals) = refused.max_by_key(|(_, count)| **count)?;
    // The finding `refused_by_one_rule` covers runs without a trade.
    let since = last_decision?;
    let (untraded, whole) = ((span.end - since).get() as f64, (span.end - span.start).get() as f64);
    let share = untraded / whole;
    if share.is_nan() || share < MIN_UNTRADED_SHARE {
        return None;
    }
    // The number of candles is added, because the run's time includes the hours in which the market is closed.
    let percent = format!("{:.0} % of the run's time", share * 100.0);
    let untraded = match candles {
        Some(count) => format!("{} ({percent})", count_text(count, "candle", "candles")),
        None => percent,
    };
    let text = format!(
        "Trading stopped at {} UTC. After the last trade, {rule} rejected {}. The bots did not trade for \
         {untraded}. The figures cover only the time before the stop.",
        format_minute(since),
        count_text(*signals, "signal", "signals"),
    );
    let severity = if share >= SERIOUS_UNTRADED_SHARE { Severity::Serious } else { Severity::Warning };
    Some(FindingKind::HaltedEarly.to_finding(severity, text))
}

/// Minimum share of rejected signals to report a usually brief rule, trading hours or a blackout.
const MIN_ROUTINE_RULE_SHARE: f64 = 0.90;
const MIN_RULE_SHARE: f64 = 0.50;
/// Minimum number of signals. With fewer signals, the finding is reported only if no signal was accepted.
const MIN_SIGNALS: u64 = 20;

pub(super) fn check_refusals_by_rule(summary: &Summary) -> Option<Finding> {
    let opened = summary.trades + summary.unsettled;
    let signals = opened + summary.refused.values().sum::<u64>();
    let (rule, most) = summary.refused.iter().max_by_key(|(_, count)| **count)?;
    let share = *most as f64 / signals as f64;
    let (cause, hint) = cause_and_hint(rule);
    let (severity, text) = if *most == signals {
        let all = format!("All {signals} signals were");
        let all = if signals == 1 { "The only signal was" } else { &all };
        (Severity::Serious, format!("{all} {cause} ({rule}), so nothing was traded."))
    } else if opened == 0 || (share >= min_reported_share(rule) && signals >= MIN_SIGNALS) {
        let traded = if opened == 0 { "nothing was traded" } else { "only the other signals were traded" };
        let share = share * 100.0;
        let text = format!("{most} of {signals} signals ({share:.0} %) were {cause} ({rule}), so {traded}.");
        (Severity::Warning, text)
    } else {
        return None;
    };
    Some(FindingKind::RefusedByOneRule.to_finding(severity, format!("{text} {hint}")))
}

fn min_reported_share(name: &str) -> f64 {
    let is_usual =
        |rule: Rule| rule.is_usually_brief() || matches!(rule, Rule::OutsideHours | Rule::Blackout);
    let rule = Rule::ALL.into_iter().find(|rule| rule.as_str() == name);
    if rule.is_some_and(is_usual) { MIN_ROUTINE_RULE_SHARE } else { MIN_RULE_SHARE }
}

fn cause_and_hint(name: &str) -> (&'static str, &'static str) {
    match name {
        "NoPrice" => (
            "rejected for lack of a price",
            "The candles have no price at the open times of these trades. Run `candlewick data check` to list the gaps.",
        ),
        "Rejected" => (
            "declined by the venue",
            "Run `candlewick trades --state rejected` to list these signals and `candlewick explain` for the venue's message.",
        ),
        "NotSent" => (
            "too late to be sent",
            "The journal, the rate limit or a slow machine delayed these orders beyond `risk.max_signal_delay_ms`.",
        ),
        "GateClosed" => (
            "blocked by the bot's gate",
            "The strategy's signals became virtual trades; signals from other sources were ignored. The gate is set in the bot's `params`.",
        ),
        _ => (
            "rejected by one rule",
            "Check the rule's setting in [risk]. If the run has a journal, `candlewick why` explains each signal.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::TradeBook;
    use candlewick_sdk::Money;

    /// Builds the finding for a ten-hour run that starts at 2025-01-01 00:00 UTC.
    fn finding(refused: &[(&'static str, u64)], last_hours: Option<i64>) -> Option<Finding> {
        let hour = |hours: i64| Millis::new(1_735_689_600_000) + Millis::HOUR * hours;
        let refused = refused.iter().copied().collect();
        check_early_halt(&refused, Some(100), (last_hours.map(hour), &(hour(0)..hour(10))))
    }

    #[test]
    fn reports_final_limit_with_the_untraded_time() {
        use Severity::{Serious, Warning};
        for (refused, last_hours, expected) in [
            (&[("MaxDrawdown", 41), ("MaxOpenTrades", 9), ("LossStreak", 1)][..], Some(8), Some(Warning)),
            (&[("Halted", 1)], Some(2), Some(Serious)),
            // Three cases: a daily limit, a late stop, and a run without any trade.
            (&[("DailyLossLimit", 900)], Some(2), None),
            (&[("MaxDrawdown", 1)], Some(10), None),
            (&[("MaxDrawdown", 9)], None, None),
            (&[], Some(1), None),
        ] {
            let found = finding(refused, last_hours);
            assert_eq!(found.as_ref().map(|finding| finding.severity), expected, "{refused:?}");
            let text = found.filter(|_| refused.len() == 3).map(|finding| finding.text);
            let parts = ["2025-01-01 08:00 UTC", "MaxDrawdown", "41 signals", "100 candles", "20 %"];
            assert!(text.is_none_or(|text| parts.iter().all(|part| text.contains(part))));
        }
    }

    #[test]
    fn reports_rule_that_rejected_most_signals() {
        use Severity::{Serious, Warning};
        let empty = Summary::new(&TradeBook::default(), Money::ZERO);
        for (trades, refused, expected) in [
            (0, &[("MinPayout", 512)][..], Some((Serious, "All 512 signals were rejected by one rule"))),
            (0, &[("MinPayout", 1)], Some((Serious, "The only signal was rejected by one rule"))),
            (0, &[("NoPrice", 7)], Some((Serious, "All 7 signals were rejected for lack of a price"))),
            (0, &[("Rejected", 7)], Some((Serious, "All 7 signals were declined by the venue (Rejected)"))),
            (0, &[("NotSent", 7)], Some((Serious, "All 7 signals were too late to be sent"))),
            (0, &[("GateClosed", 7)], Some((Serious, "All 7 signals were blocked by the bot's gate"))),
            (0, &[("MinPayout", 9), ("OutsideHours", 3)], Some((Warning, "9 of 12 signals (75 %)"))),
            (30, &[("MaxTradesPerDay", 970)], Some((Warning, "970 of 1000 signals (97 %)"))),
            (1_532, &[("DailyLossLimit", 8_168)], Some((Warning, "8168 of 9700 signals (84 %)"))),
            (501, &[("DailyLossLimit", 499)], None),
            // Short-lived limits reject most signals of many strategies, and trading hours reject signals on purpose.
            (1_532, &[("MaxOpenTradesPerSymbol", 8_168)], None),
            (1_532, &[("OutsideHours", 8_168)], None),
            (1, &[("MaxOpenTrades", 9)], None),
            (500, &[("MaxOpenTrades", 490)], None),
            (0, &[], None),
        ] {
            let summary = Summary { trades, refused: refused.iter().copied().collect(), ..empty.clone() };
            let found = check_refusals_by_rule(&summary);
            let severity = found.as_ref().map(|finding| finding.severity);
            assert_eq!(severity, expected.map(|(severity, _)| severity), "{trades} {refused:?}");
            let says = expected.map_or("", |(_, says)| says);
            assert!(found.is_none_or(|finding| finding.text.starts_with(says)), "{says}");
        }
    }
}
