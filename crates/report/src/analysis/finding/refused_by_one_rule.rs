//! Finding: one rule refused most signals, so the result is the rule's, not the strategy's.

use super::{Finding, FindingKind, Severity};
use candlewick_backtest::Summary;
use candlewick_engine::Rule;

/// Share of all signals from which a rule that refuses briefly or by schedule is reported.
const NEARLY_ALL: f64 = 0.90;
/// Share for any other rule, such as a daily limit: from there on the limit decides most of the
/// result.
const MOST: f64 = 0.50;
/// With fewer signals, the finding requires that none was accepted.
const MIN_SIGNALS: u64 = 20;

pub(super) fn find(summary: &Summary) -> Option<Finding> {
    let opened = summary.trades + summary.unsettled;
    let signals = opened + summary.refused.values().sum::<u64>();
    let (rule, most) = summary.refused.iter().max_by_key(|(_, count)| **count)?;
    let share = *most as f64 / signals as f64;
    let (cause, cure) = cause_of(rule);
    let (severity, text) = if *most == signals {
        let all = if signals == 1 {
            "The only signal was".to_owned()
        } else {
            format!("All {signals} signals were")
        };
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
    let text = format!("{text} {cure}");
    Some(Finding { kind: FindingKind::RefusedByOneRule, severity, text })
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
    use super::super::tests::summary;
    use super::*;

    fn check(trades: u64, refused: &[(&'static str, u64)], expected: Option<Severity>, says: &str) {
        let summary = Summary { refused: refused.iter().copied().collect(), ..summary(trades, 0) };
        let found = find(&summary);
        assert_eq!(found.as_ref().map(|finding| finding.severity), expected, "{trades} {refused:?}");
        assert!(found.is_none_or(|finding| finding.text.starts_with(says)), "{says}");
    }

    #[test]
    fn signals_that_one_rule_refused_are_reported_and_those_that_came_through_are_not() {
        check(
            0,
            &[("MinPayout", 512)],
            Some(Severity::Serious),
            "All 512 signals were refused by one rule, MinPayout",
        );
        check(0, &[("MinPayout", 1)], Some(Severity::Serious), "The only signal was refused by one rule");
        check(
            0,
            &[("MinPayout", 9), ("OutsideHours", 3)],
            Some(Severity::Warning),
            "9 of 12 signals (75 %) were refused by one rule, MinPayout",
        );
        check(
            30,
            &[("MaxTradesPerDay", 970)],
            Some(Severity::Warning),
            "970 of 1000 signals (97 %) were refused by one rule, MaxTradesPerDay",
        );
        let (nothing, serious) = ("nothing was traded", Some(Severity::Serious));
        check(
            0,
            &[("NoPrice", 7)],
            serious,
            &format!("All 7 signals were refused for want of a price, NoPrice: {nothing}"),
        );
        check(
            0,
            &[("Rejected", 7)],
            serious,
            &format!("All 7 signals were refused by the venue, Rejected: {nothing}"),
        );
        check(
            0,
            &[("NotSent", 7)],
            serious,
            "All 7 signals were refused since they came too late to be sent",
        );
        check(
            0,
            &[("GateClosed", 3)],
            serious,
            &format!(
                "All 3 signals were refused by the gate of their bot, GateClosed: {nothing}. Those of its strategy were virtual trades"
            ),
        );
        check(
            1_532,
            &[("DailyLossLimit", 8_168)],
            Some(Severity::Warning),
            "8168 of 9700 signals (84 %) were refused by one rule, DailyLossLimit: what was traded is what it left",
        );
        check(501, &[("DailyLossLimit", 499)], None, "");
        // One trade at a time refuses most signals of many strategies, and trading hours do as they are set.
        check(1_532, &[("MaxOpenTradesPerSymbol", 8_168)], None, "");
        check(1_532, &[("OutsideHours", 8_168)], None, "");
        check(1, &[("MaxOpenTrades", 9)], None, "");
        check(500, &[("MaxOpenTrades", 490)], None, "");
        check(0, &[], None, "");
    }
}
