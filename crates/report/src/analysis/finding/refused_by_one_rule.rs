//! One rule refused the signals: the result is that of the rule, and not of the strategy.

use super::{Finding, FindingKind, Severity};
use candlewick_backtest::Summary;

/// From this share of all signals on.
const NEARLY_ALL: f64 = 0.90;
/// Of fewer signals nothing is said, unless none came through.
const FEWEST: u64 = 20;

pub(super) fn find(summary: &Summary) -> Option<Finding> {
    let opened = summary.trades + summary.unsettled;
    let signals = opened + summary.refused.values().sum::<u64>();
    let (rule, most) = summary.refused.iter().max_by_key(|(_, count)| **count)?;
    let share = *most as f64 / signals as f64;
    let (severity, text) = if *most == signals {
        let all = if signals == 1 {
            "The only signal was".to_owned()
        } else {
            format!("All {signals} signals were")
        };
        (Severity::Serious, format!("{all} refused by one rule, {rule}: nothing was traded."))
    } else if opened == 0 || (share >= NEARLY_ALL && signals >= FEWEST) {
        let traded = if opened == 0 { "nothing was traded" } else { "what was traded is what it left" };
        let share = share * 100.0;
        (Severity::Warning, format!("{rule} refused {most} of {signals} signals ({share:.0} %): {traded}."))
    } else {
        return None;
    };
    let text = format!("{text} `candlewick why` and the setting of that rule in [risk] say more.");
    Some(Finding { kind: FindingKind::RefusedByOneRule, severity, text })
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
            "MinPayout refused 9 of 12",
        );
        check(
            30,
            &[("MaxTradesPerDay", 970)],
            Some(Severity::Warning),
            "MaxTradesPerDay refused 970 of 1000",
        );
        check(1, &[("MaxOpenTrades", 9)], None, "");
        check(500, &[("MaxOpenTrades", 490)], None, "");
        check(0, &[], None, "");
    }
}
