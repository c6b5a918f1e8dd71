//! Finding: every candle of the run was already used to choose its variant.

use super::{Finding, FindingKind, Severity};
use candlewick_search::variants::VariantCount;

pub(super) fn find(variants: &VariantCount) -> Option<Finding> {
    let is_seen = variants.count > 1 && variants.unseen_share == Some(0.0);
    is_seen.then(|| Finding {
        kind: FindingKind::InSampleOnly,
        severity: Severity::Warning,
        text: "In-sample only: other variants ran on all of these candles, so the choice among them has seen everything. Test on \
               later candles, once."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_that_has_seen_all_is_reported_and_unseen_candles_are_not() {
        for (count, unseen_share, expected) in
            [(2, Some(0.0), true), (2, Some(0.4), false), (1, Some(0.0), false), (2, None, false)]
        {
            let variants = VariantCount { count, unseen_share, ..VariantCount::default() };
            assert_eq!(find(&variants).is_some(), expected, "{count} {unseen_share:?}");
        }
    }
}
