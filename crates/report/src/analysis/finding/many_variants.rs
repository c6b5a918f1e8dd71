//! Finding: many variants were tried, and the best of them is partly luck.

use super::{Finding, FindingKind, Severity};
use candlewick_search::variants::VariantCount;
use std::fmt::Write as _;

const MANY: u64 = 10;
const ALPHA: f64 = 0.05;

pub(super) fn find(variants: &VariantCount) -> Option<Finding> {
    let VariantCount { count, under_way, p_value, p_value_bonferroni, other_ledgers, .. } = variants;
    if *count < 2 {
        return None;
    }
    let mut text = format!("{count} variants of this idea were tried so far");
    if *under_way > 0 {
        let _ = write!(text, " ({under_way} of them by searches that were stopped or are under way)");
    }
    if !other_ledgers.is_empty() {
        let paths: Vec<String> = other_ledgers.iter().map(|path| path.display().to_string()).collect();
        let _ = write!(text, " (those that are counted in another ledger among them: {})", paths.join(", "));
    }
    if let (Some(own), Some(corrected)) = (p_value, p_value_bonferroni) {
        let _ = write!(text, ": a p-value of {own:.4} becomes {corrected:.4}");
    }
    let loses = p_value.is_some_and(|own| own <= ALPHA) && p_value_bonferroni.is_some_and(|p| p > ALPHA);
    let severity = match (loses, *count >= MANY) {
        (true, _) => Severity::Serious,
        (false, true) => Severity::Warning,
        (false, false) => Severity::Info,
    };
    text.push_str(if loses { ", which luck explains." } else { "." });
    Some(Finding { kind: FindingKind::ManyVariants, severity, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: u64, p_value: Option<f64>, expected: Option<Severity>) {
        let variants = VariantCount {
            count,
            p_value,
            p_value_bonferroni: p_value.map(|p| (p * count as f64).min(1.0)),
            ..VariantCount::default()
        };
        assert_eq!(find(&variants).map(|finding| finding.severity), expected, "{count} {p_value:?}");
    }

    #[test]
    fn a_ledger_that_counts_some_of_them_is_named() {
        let other_ledgers = vec!["b.jsonl".into()];
        let found = find(&VariantCount { count: 3, other_ledgers, ..VariantCount::default() }).unwrap();
        let expected = "3 variants of this idea were tried so far (those that are counted in another ledger among them: \
                        b.jsonl).";
        assert_eq!(found.text, expected);
    }

    #[test]
    fn several_variants_are_reported_and_a_single_one_is_not() {
        check(1, Some(0.01), None);
        check(2, Some(0.5), Some(Severity::Info));
        check(2, None, Some(Severity::Info));
        check(50, Some(0.5), Some(Severity::Warning));
        check(50, Some(0.000_1), Some(Severity::Warning));
        // It would have counted for a find, and does not.
        check(3, Some(0.03), Some(Severity::Serious));
    }
}
