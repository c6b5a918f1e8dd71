//! What the number of variants does to a result.

use super::{Family, Known, Note};
use candlewick_sdk::Millis;
use candlewick_statistics::benjamini_hochberg;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// How many variants were tried, and what is left of a run's p-value.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VariantCount {
    /// The variants of all families of the run's bots: one, and one more for each further variant of any of them.
    pub count: u64,
    /// By family.
    pub families: Vec<FamilyCount>,
    /// The run's own p-value; nothing when its bots are of several families.
    pub p_value: Option<f64>,
    /// The same times the count, at most 1 (Bonferroni): the probability that any of the variants does so well by luck.
    pub p_value_bonferroni: Option<f64>,
    /// The same by Benjamini and Hochberg among the p-values of all variants; those without one count as 1.
    pub p_value_bh: Option<f64>,
    /// The share of the run's time that no other variant has run on; nothing while there is no other.
    pub unseen_share: Option<f64>,
    /// The variance of the variants' Sharpe ratios of a day, where two of them have one.
    #[serde(skip)]
    pub variance_of_sharpe: Option<f64>,
}

/// The variants of one family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FamilyCount {
    /// The idea.
    #[serde(flatten)]
    pub family: Family,
    /// Variants of it.
    pub variants: u64,
}

impl VariantCount {
    /// Of a run that tried `own` on the candles of `span`, by what a ledger knows of their families.
    pub fn of(known: &[(Family, Vec<Known>)], own: &[Note], span: &Range<Millis>) -> Self {
        let families: Vec<FamilyCount> = known
            .iter()
            .map(|(family, known)| {
                let names: HashSet<&str> = known.iter().map(|one| one.variant.as_str()).collect();
                FamilyCount { family: family.clone(), variants: names.len() as u64 }
            })
            .collect();
        let count = 1 + families.iter().map(|family| family.variants.saturating_sub(1)).sum::<u64>();
        // A p-value is that of a single idea, or it is none of any.
        let single = match (known, own) {
            ([(_, known)], [own]) => Some((known, own)),
            _ => None,
        };
        let p_value = single.and_then(|(_, own)| own.p_value);
        Self {
            count,
            families,
            p_value,
            p_value_bonferroni: p_value.map(|p| (p * count as f64).min(1.0)),
            p_value_bh: single.and_then(|(known, own)| corrected(known, own)),
            unseen_share: unseen_share(known, own, span),
            variance_of_sharpe: single.and_then(|(known, _)| variance_of_sharpe(known)),
        }
    }
}

/// The latest of each variant, whatever candles it ran on.
fn latest(known: &[Known]) -> BTreeMap<&str, &Known> {
    known.iter().map(|one| (one.variant.as_str(), one)).collect()
}

fn corrected(known: &[Known], own: &Note) -> Option<f64> {
    let p_value = own.p_value?;
    let others = latest(known).into_iter().filter(|(variant, _)| *variant != own.tried.name);
    let mut p_values = vec![p_value];
    p_values.extend(others.map(|(_, one)| one.p_value.unwrap_or(1.0)));
    benjamini_hochberg(&p_values).ok()?.first().copied()
}

fn variance_of_sharpe(known: &[Known]) -> Option<f64> {
    let ratios: Vec<f64> = latest(known).into_values().filter_map(|one| one.sharpe_of_a_day).collect();
    let count = ratios.len() as f64;
    if ratios.len() < 2 {
        return None;
    }
    let mean = ratios.iter().sum::<f64>() / count;
    Some(ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0))
}

/// What of the span lies outside of all that other variants saw, from their first candle to their last.
fn unseen_share(known: &[(Family, Vec<Known>)], own: &[Note], span: &Range<Millis>) -> Option<f64> {
    let is_own = |one: &&Known| own.iter().any(|note| note.tried.name == one.variant);
    let others = || known.iter().flat_map(|(_, known)| known).filter(|one| !is_own(one));
    let seen = others().map(|one| one.span.start).min()?..others().map(|one| one.span.end).max()?;
    let both = seen.end.min(span.end) - seen.start.max(span.start);
    let whole = (span.end - span.start).get() as f64;
    (whole > 0.0).then(|| 1.0 - both.get().max(0) as f64 / whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variants::Variant;

    fn family(strategy: &str) -> Family {
        let (symbols, interval) = (vec!["BTCUSDT".to_owned()], "1m".to_owned());
        Family { strategy: strategy.to_owned(), symbols, interval }
    }

    /// A variant on these days, its p-value and its ratio.
    fn known((variant, days, p_value, ratio): &(&str, Range<i64>, Option<f64>, Option<f64>)) -> Known {
        let span = Millis::DAY * days.start..Millis::DAY * days.end;
        Known { variant: (*variant).to_owned(), p_value: *p_value, sharpe_of_a_day: *ratio, span }
    }

    fn own(strategy: &str, variant: &str, p_value: Option<f64>) -> Note {
        let tried = Variant { family: family(strategy), name: variant.to_owned() };
        Note { tried, p_value, sharpe_of_a_day: None }
    }

    fn week() -> Range<Millis> {
        Millis::ZERO..Millis::DAY * 7
    }

    #[test]
    fn a_single_variant_needs_no_correction() {
        let rows = [("a", 0..7, Some(0.04), None), ("a", 7..14, Some(0.5), None)];
        let known = [(family("rsi"), rows.iter().map(known).collect())];
        let count = VariantCount::of(&known, &[own("rsi", "a", Some(0.04))], &week());
        assert_eq!((count.count, count.p_value_bonferroni, count.p_value_bh), (1, Some(0.04), Some(0.04)));
        assert_eq!((count.unseen_share, count.variance_of_sharpe), (None, None));
    }

    #[test]
    fn p_values_are_corrected_by_hand() {
        let rows = [
            ("a", 0..7, Some(0.02), Some(0.3)),
            ("b", 0..7, Some(0.03), Some(0.1)),
            ("c", 0..7, None, None),
            ("d", 0..7, Some(0.5), Some(0.2)),
        ];
        let known = [(family("rsi"), rows.iter().map(known).collect())];
        let count = VariantCount::of(&known, &[own("rsi", "a", Some(0.02))], &week());
        assert_eq!((count.count, count.p_value_bonferroni), (4, Some(0.08)));
        // Of 0.02, 0.03, 0.5, 1: the smaller of 0.02 4/1 and 0.03 4/2.
        assert!((count.p_value_bh.unwrap() - 0.06).abs() < 1e-12);
        // 0.3, 0.1, 0.2 around 0.2.
        assert!((count.variance_of_sharpe.unwrap() - 0.01).abs() < 1e-12);
        assert_eq!(count.unseen_share, Some(0.0));
    }

    #[test]
    fn variants_of_every_family_of_a_run_count() {
        let [a, b] = [("a", 0..7, None, None), ("b", 0..7, None, None)];
        let all = [(family("cross"), vec![known(&a)]), (family("rsi"), vec![known(&a), known(&b)])];
        let own = [own("cross", "a", None), own("rsi", "a", None)];
        let count = VariantCount::of(&all, &own, &week());
        assert_eq!((count.count, count.p_value, count.p_value_bh), (2, None, None));
        assert_eq!(count.families.iter().map(|one| one.variants).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn what_no_other_variant_saw_is_unseen() {
        for (days, expected) in [(0..7, 0.0), (-3..9, 0.0), (0..5, 2.0 / 7.0), (9..12, 1.0)] {
            let rows = [("a", 0..7, None, None), ("b", days.clone(), None, None)];
            let known = [(family("rsi"), rows.iter().map(known).collect())];
            let found = VariantCount::of(&known, &[own("rsi", "a", None)], &week()).unseen_share.unwrap();
            assert!((found - expected).abs() < 1e-12, "{days:?}: {found}");
        }
    }
}
