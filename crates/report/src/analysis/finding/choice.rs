//! Findings about the number of variants tried and the number of numeric parameters.

use super::{Finding, FindingKind, Severity};
use candlewick_engine::{BotSettings, IntentRow};
use candlewick_search::variants::VariantCount;
use std::fmt::Write as _;

const MIN_VARIANTS_FOR_WARNING: u64 = 10;
const ALPHA: f64 = 0.05;

pub(super) fn check_variant_count(variants: &VariantCount) -> Option<Finding> {
    let VariantCount { count, under_way, p_value, p_value_bonferroni, other_ledgers, .. } = variants;
    if *count < 2 {
        return None;
    }
    let mut text = format!("{count} variants of this idea have been tried");
    if *under_way > 0 {
        let _ = write!(text, " (including {under_way} planned by unfinished searches)");
    }
    if !other_ledgers.is_empty() {
        let paths: Vec<String> = other_ledgers.iter().map(|path| path.display().to_string()).collect();
        let _ = write!(text, " (including variants from other ledgers: {})", paths.join(", "));
    }
    if let (Some(own), Some(corrected)) = (p_value, p_value_bonferroni) {
        let _ = write!(text, ". After correction, the p-value rises from {own:.4} to {corrected:.4}");
    }
    let loses = p_value.is_some_and(|own| own <= ALPHA) && p_value_bonferroni.is_some_and(|p| p > ALPHA);
    let severity = match (loses, *count >= MIN_VARIANTS_FOR_WARNING) {
        (true, _) => Severity::Serious,
        (false, true) => Severity::Warning,
        (false, false) => Severity::Info,
    };
    text.push_str(if loses { ", so chance can explain the result." } else { "." });
    Some(FindingKind::ManyVariants.to_finding(severity, text))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownVariants {
    NotCounted,
    NewLedger,
    Lost(String),
}

pub(super) fn report_unknown_variants(unknown: &UnknownVariants) -> Finding {
    let kind = FindingKind::VariantsUnknown;
    match unknown {
        UnknownVariants::NotCounted => kind.warning(
            "No ledger is set in [variants], so variants are not counted and p-values are not corrected.",
        ),
        UnknownVariants::NewLedger => kind.to_finding(
            Severity::Info,
            "The variant ledger starts with this run. Earlier variants and variants in other ledgers are unknown.",
        ),
        UnknownVariants::Lost(what) => kind.serious(format!(
            "The number of variants is unknown: {what}. The p-value cannot be corrected. Restore the ledger from a \
             backup, or test on later candles."
        )),
    }
}

pub(super) fn check_in_sample_only(variants: &VariantCount) -> Option<Finding> {
    let is_seen = variants.count > 1 && variants.unseen_share == Some(0.0);
    is_seen.then(|| {
        FindingKind::InSampleOnly.warning(
            "In-sample only: all of these candles were already used by other variants. Test once on later candles.",
        )
    })
}

const MIN_NUMERIC_PARAMETERS: usize = 12;
/// Minimum trades per numeric parameter. Harrell recommends 10 to 20 (*Regression Modeling Strategies*, 2015, 4.4).
const MIN_TRADES_PER_PARAMETER: usize = 20;

pub(super) fn check_parameter_counts(
    numbers: &[usize],
    settled: &[&IntentRow],
    bots: &[BotSettings],
) -> Option<Finding> {
    numbers.iter().zip(bots).enumerate().find_map(|(index, (numbers, bot))| {
        let trades = settled.iter().filter(|row| row.approved.bot().index() == index).count();
        may_be_overfitted(*numbers, trades).then(|| {
            FindingKind::ManyNumbers.warning(format!(
                "The rule of {} has {numbers} numeric parameters but only {trades} trades, so the rule may be \
                 overfitted. Test the rule on candles that were not used to design it.",
                bot.name
            ))
        })
    })
}

const fn may_be_overfitted(numbers: usize, trades: usize) -> bool {
    numbers >= MIN_NUMERIC_PARAMETERS && trades > 0 && trades < numbers * MIN_TRADES_PER_PARAMETER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_several_variants_with_other_ledgers() {
        for (count, p_value, expected) in [
            (1, Some(0.01), None),
            (2, Some(0.5), Some(Severity::Info)),
            (2, None, Some(Severity::Info)),
            (50, Some(0.5), Some(Severity::Warning)),
            (50, Some(0.000_1), Some(Severity::Warning)),
            (3, Some(0.03), Some(Severity::Serious)),
        ] {
            let p_value_bonferroni = p_value.map(|p: f64| (p * count as f64).min(1.0));
            let other_ledgers = vec!["b.jsonl".into()];
            let none = VariantCount::default();
            let variants = VariantCount { count, p_value, p_value_bonferroni, other_ledgers, ..none };
            let found = check_variant_count(&variants);
            assert_eq!(found.as_ref().map(|finding| finding.severity), expected, "{count} {p_value:?}");
            assert!(found.is_none_or(|finding| finding.text.contains("b.jsonl")), "{count}");
        }
    }

    #[test]
    fn lost_ledger_is_serious_and_new_one_is_info() {
        let lost = UnknownVariants::Lost("the file is empty".to_owned());
        let all = [lost, UnknownVariants::NotCounted, UnknownVariants::NewLedger];
        let found = all.map(|unknown| report_unknown_variants(&unknown).severity);
        assert_eq!(found, [Severity::Serious, Severity::Warning, Severity::Info]);
    }

    #[test]
    fn reports_choice_without_unseen_candles() {
        for (count, unseen_share, expected) in
            [(2, Some(0.0), true), (2, Some(0.4), false), (1, Some(0.0), false), (2, None, false)]
        {
            let variants = VariantCount { count, unseen_share, ..VariantCount::default() };
            assert_eq!(check_in_sample_only(&variants).is_some(), expected, "{count} {unseen_share:?}");
        }
    }

    #[test]
    fn twenty_trades_per_number_are_enough() {
        for (numbers, trades, expected) in
            [(4, 10, false), (12, 239, true), (12, 240, false), (300, 4_000, true), (40, 0, false)]
        {
            assert_eq!(may_be_overfitted(numbers, trades), expected, "{numbers} {trades}");
        }
    }
}
