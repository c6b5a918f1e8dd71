//! Correction of a result for the number of variants tried.

use super::{Family, KnownVariant, LedgerSummary, Look, Variant, VariantNote};
use candlewick_statistics::benjamini_hochberg;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VariantCount {
    /// Number of variants tried: this run, plus all other variants in the strategy families of its bots.
    pub count: u64,
    #[serde(skip)]
    pub walks: u64,
    /// Number of variants that running or stopped searches have planned but not recorded.
    pub under_way: u64,
    /// Known gaps in the ledger, which may make the count too low.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    pub is_first: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_ledgers: Vec<PathBuf>,
    pub families: Vec<FamilyCount>,
    /// p-value of the run; `None` if the bots belong to several strategy families.
    pub p_value: Option<f64>,
    /// Bonferroni-corrected p-value: `p_value` times `count`, at most 1.
    pub p_value_bonferroni: Option<f64>,
    /// Benjamini-Hochberg p-value among all variants. A missing p-value is replaced by 1.
    pub p_value_bh: Option<f64>,
    /// Fraction of the run's time range in which no other variant has run; `None` without other variants.
    pub unseen_share: Option<f64>,
    /// Variance of the variants' daily Sharpe ratios; `None` for fewer than two ratios.
    #[serde(skip)]
    pub variance_of_sharpe: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FamilyCount {
    #[serde(flatten)]
    pub family: Family,
    pub variants: u64,
}

impl VariantCount {
    pub fn new(noted: &LedgerSummary, own: &[VariantNote], look: &Look) -> Self {
        let known: Vec<(&Family, Vec<&KnownVariant>)> =
            noted.families.iter().map(|(family, known)| (family, distinct_variants(known))).collect();
        let families: Vec<FamilyCount> = known
            .iter()
            .map(|(family, known)| {
                let under_way = noted.under_way.get(&family.strategy).copied().unwrap_or_default();
                FamilyCount { family: (*family).clone(), variants: known.len() as u64 + under_way }
            })
            .collect();
        let count = 1 + families.iter().map(|family| family.variants.saturating_sub(1)).sum::<u64>();
        let under_way = noted.under_way.values().sum();
        let all = || known.iter().flat_map(|(_, known)| known);
        let walks = all().filter(|one| Variant::is_walk_forward(&one.variant)).count() as u64;
        // A p-value refers to a single family, so a run with several families has no p-value.
        let single = match (&known[..], own) {
            ([(_, known)], [own]) => Some((known, own)),
            _ => None,
        };
        let p_value = single.and_then(|(_, own)| own.p_value);
        Self {
            count,
            walks,
            under_way,
            unknown: noted.gaps.clone(),
            is_first: noted.is_first,
            other_ledgers: noted.other_ledgers.clone(),
            families,
            p_value,
            p_value_bonferroni: p_value.map(|p| (p * count as f64).min(1.0)),
            p_value_bh: single.and_then(|(known, own)| corrected_p_value(known, own, under_way)),
            unseen_share: unseen_share(noted, own, look),
            variance_of_sharpe: single.and_then(|(known, _)| sharpe_variance(known)),
        }
    }
}

type VariantsByRange<'a> = BTreeMap<(i64, i64), BTreeMap<&'a str, &'a KnownVariant>>;

/// Returns the latest entry of each variant.
///
/// Names with the same trades on the same time range of the same candles count as one variant. A name counts several
/// times if its trades on one time range differ: its code, or a file that is not a parameter, has changed.
fn distinct_variants(known: &[KnownVariant]) -> Vec<&KnownVariant> {
    let mut names = VariantNames::default();
    let mut same_trades: BTreeMap<(&str, i64, i64, &str), usize> = BTreeMap::new();
    let places: Vec<usize> = known.iter().map(|one| names.index_of(&one.root, &one.variant)).collect();
    for (one, place) in known.iter().zip(&places) {
        if let Some(trades) = &one.trades_hash {
            let key = (one.root.as_str(), one.span.start.get(), one.span.end.get(), trades.as_str());
            let first = *same_trades.entry(key).or_insert(*place);
            names.join(first, *place);
        }
    }
    let mut by_class: BTreeMap<usize, VariantsByRange<'_>> = BTreeMap::new();
    for (one, place) in known.iter().zip(places) {
        let stretch = by_class.entry(names.find_root(place)).or_default();
        let stretch = stretch.entry((one.span.start.get(), one.span.end.get())).or_default();
        stretch.insert(one.trades_hash.as_deref().unwrap_or_default(), one);
    }
    by_class.into_values().flat_map(largest_variant_set).collect()
}

/// Returns the largest group of variants on one time range. Omits those without a trades hash if any has one.
fn largest_variant_set(mut stretches: VariantsByRange<'_>) -> Vec<&KnownVariant> {
    for trades in stretches.values_mut().filter(|trades| trades.len() > 1) {
        trades.remove("");
    }
    let most = stretches.into_values().max_by_key(BTreeMap::len);
    most.map(|trades| trades.into_values().collect()).unwrap_or_default()
}

/// Union-find structure over variant names. Joined names count as one variant.
#[derive(Default)]
struct VariantNames<'a> {
    places: BTreeMap<(&'a str, &'a str), usize>,
    parents: Vec<usize>,
}

impl<'a> VariantNames<'a> {
    fn index_of(&mut self, root: &'a str, name: &'a str) -> usize {
        let next = self.parents.len();
        let place = *self.places.entry((root, name)).or_insert(next);
        if place == next {
            self.parents.push(next);
        }
        place
    }

    fn find_root(&mut self, mut place: usize) -> usize {
        while self.parents[place] != place {
            self.parents[place] = self.parents[self.parents[place]];
            place = self.parents[place];
        }
        place
    }

    fn join(&mut self, one: usize, two: usize) {
        let (one, two) = (self.find_root(one), self.find_root(two));
        self.parents[one.max(two)] = one.min(two);
    }
}

fn corrected_p_value(known: &[&KnownVariant], own: &VariantNote, under_way: u64) -> Option<f64> {
    let p_value = own.p_value?;
    let is_own = |one: &&&KnownVariant| own.matches(one);
    let others = known.iter().filter(|one| !is_own(one));
    let mut p_values = vec![p_value];
    p_values.extend(others.map(|one| one.p_value.unwrap_or(1.0)));
    // The run's own entry may be recorded under another name with the same trades, which makes the list too long.
    p_values.truncate(known.len().max(1));
    // A rewritten variant has several entries under the run's own name. They were skipped above and count as 1.
    p_values.resize(known.len().max(1) + usize::try_from(under_way).ok()?, 1.0);
    benjamini_hochberg(&p_values).ok()?.first().copied()
}

fn sharpe_variance(known: &[&KnownVariant]) -> Option<f64> {
    let ratios: Vec<f64> = known.iter().filter_map(|one| one.daily_sharpe).collect();
    let count = ratios.len() as f64;
    if ratios.len() < 2 {
        return None;
    }
    let mean = ratios.iter().sum::<f64>() / count;
    Some(ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0))
}

impl VariantNote {
    fn matches(&self, known: &KnownVariant) -> bool {
        self.variant.name == known.variant
            || (self.trades_hash.is_some() && self.trades_hash == known.trades_hash)
    }
}

fn unseen_share(noted: &LedgerSummary, own: &[VariantNote], look: &Look) -> Option<f64> {
    let is_other = |one: &&KnownVariant| !own.iter().any(|note| note.matches(one));
    let others: Vec<_> = noted.families.iter().flat_map(|(_, known)| known).filter(is_other).collect();
    if others.is_empty() {
        return None;
    }
    let candles = look.candles.within(&look.span);
    let mut looks: BTreeSet<(&str, i64, i64)> = BTreeSet::new();
    let once = others.into_iter().filter(|one| {
        one.candles_id.is_empty() || looks.insert((&one.candles_id, one.span.start.get(), one.span.end.get()))
    });
    let stretches = once.filter_map(|one| candles.range_seen_in(&one.sample));
    let seen = stretches.reduce(|one, two| one.start.min(two.start)..one.end.max(two.end));
    let whole = (look.span.end - look.span.start).get() as f64;
    let both =
        seen.map_or(0, |seen| (seen.end.min(look.span.end) - seen.start.max(look.span.start)).get().max(0));
    (whole > 0.0).then(|| 1.0 - both as f64 / whole)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{candles, family, look_at};
    use super::*;
    use crate::variants::CandleSample;
    use candlewick_sdk::Millis;
    use candlewick_sdk::testkit::random_walk;
    use std::ops::Range;
    use std::sync::Arc;

    fn all() -> CandleSample {
        candles("BTCUSDT", &random_walk(1, 21 * 60))
    }

    fn hours(hours: &Range<i64>) -> Range<Millis> {
        let start = all().span().unwrap().start;
        start + Millis::HOUR * hours.start..start + Millis::HOUR * hours.end
    }

    /// Name, hours, trades hash, p-value and Sharpe ratio of a variant.
    struct Row(&'static str, Range<i64>, Option<&'static str>, Option<f64>, Option<f64>);

    fn known(Row(variant, on, trades, p_value, ratio): &Row) -> KnownVariant {
        KnownVariant {
            variant: (*variant).to_owned(),
            p_value: *p_value,
            daily_sharpe: *ratio,
            trades_hash: trades.map(str::to_owned),
            candles_id: "c".to_owned(),
            root: "c".to_owned(),
            span: hours(on),
            sample: Arc::new(all().within(&hours(on))),
            is_single_run_to_end: true,
        }
    }

    fn own(strategy: &str, p_value: Option<f64>) -> VariantNote {
        let tried = Variant { family: family(strategy), name: "a".to_owned(), bots: Vec::new() };
        VariantNote { variant: tried, p_value, daily_sharpe: None, trades_hash: None }
    }

    fn week() -> Look {
        Look { span: hours(&(0..7)), ..look_at(all()) }
    }

    fn counted(known: Vec<KnownVariant>, p_value: Option<f64>) -> VariantCount {
        let noted = LedgerSummary { families: vec![(family("rsi"), known)], ..LedgerSummary::default() };
        VariantCount::new(&noted, &[own("rsi", p_value)], &week())
    }

    fn count(rows: &[Row]) -> u64 {
        counted(rows.iter().map(known).collect(), None).count
    }

    #[test]
    fn a_single_variant_needs_no_correction() {
        let rows = [Row("a", 0..7, None, Some(0.04), None), Row("a", 7..14, None, Some(0.5), None)];
        let count = counted(rows.iter().map(known).collect(), Some(0.04));
        assert_eq!((count.count, count.p_value_bonferroni, count.p_value_bh), (1, Some(0.04), Some(0.04)));
        assert_eq!((count.unseen_share, count.variance_of_sharpe), (None, None));
    }

    #[test]
    fn trades_tell_variants_apart_and_not_what_led_to_them() {
        let row = |name, on: Range<i64>, trades| Row(name, on, Some(trades), None, None);
        // Two settings with the same trades, and a third with different trades.
        assert_eq!(count(&[row("a", 0..7, "t"), row("b", 0..7, "t")]), 1);
        assert_eq!(count(&[row("a", 0..7, "t"), row("b", 0..7, "t"), row("c", 0..7, "u")]), 2);
        // The trades differ once the limit takes effect.
        assert_eq!(
            count(&[row("a", 0..7, "t"), row("b", 0..7, "t"), row("a", 0..9, "v"), row("b", 0..9, "w")]),
            2
        );
        // One name whose trades changed: something that the name does not cover was rewritten.
        assert_eq!(count(&[row("a", 0..7, "t"), row("a", 0..7, "u"), row("a", 0..9, "v")]), 2);
        // The same name on more candles of a file that grew.
        assert_eq!(count(&[row("a", 0..7, "t"), row("a", 0..9, "u"), row("a", 0..14, "v")]), 1);
        // A name with unknown trades in one of its entries.
        assert_eq!(count(&[Row("a", 0..7, None, None, None), row("a", 0..7, "t")]), 1);
    }

    #[test]
    fn what_a_stopped_search_may_have_tried_counts() {
        let row = known(&Row("a", 0..7, None, Some(0.02), None));
        let under_way = [("rsi".to_owned(), 3)].into();
        let known = LedgerSummary {
            families: vec![(family("rsi"), vec![row])],
            under_way,
            ..LedgerSummary::default()
        };
        let count = VariantCount::new(&known, &[own("rsi", Some(0.02))], &week());
        assert_eq!((count.count, count.under_way, count.families[0].variants), (4, 3, 4));
        assert_eq!((count.p_value_bonferroni, count.p_value_bh), (Some(0.08), Some(0.08)));
    }

    #[test]
    fn other_candles_are_another_choice() {
        let mut other = known(&Row("a", 0..7, Some("t"), None, None));
        other.root = "d".to_owned();
        assert_eq!(counted(vec![known(&Row("a", 0..7, Some("t"), None, None)), other], None).count, 2);
    }

    #[test]
    fn p_values_are_corrected_by_hand() {
        let rows = [
            Row("a", 0..7, None, Some(0.02), Some(0.3)),
            Row("b", 0..7, None, Some(0.03), Some(0.1)),
            Row("c", 0..7, None, None, None),
            Row("d", 0..7, None, Some(0.5), Some(0.2)),
        ];
        let count = counted(rows.iter().map(known).collect(), Some(0.02));
        assert_eq!((count.count, count.p_value_bonferroni), (4, Some(0.08)));
        // The p-values are 0.02, 0.03, 0.5 and 1. The result is the smaller of 0.02 x 4/1 and 0.03 x 4/2.
        assert!((count.p_value_bh.unwrap() - 0.06).abs() < 1e-12);
        // The result is the variance of 0.3, 0.1 and 0.2 around their mean of 0.2.
        assert!((count.variance_of_sharpe.unwrap() - 0.01).abs() < 1e-12);
        assert_eq!(count.unseen_share, Some(0.0));
    }

    #[test]
    fn variants_of_every_family_of_a_run_count() {
        let row = |name| known(&Row(name, 0..7, None, None, None));
        let families = vec![(family("cross"), vec![row("a")]), (family("rsi"), vec![row("a"), row("b")])];
        let noted = LedgerSummary { families, ..LedgerSummary::default() };
        let count = VariantCount::new(&noted, &[own("cross", None), own("rsi", None)], &week());
        assert_eq!((count.count, count.p_value, count.p_value_bh), (2, None, None));
        assert_eq!(count.families.iter().map(|one| one.variants).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_rewritten_strategy_is_corrected_for_what_it_was() {
        let row = |trades, p| known(&Row("a", 0..7, Some(trades), Some(p), None));
        let rows = vec![row("t", 0.5), row("u", 0.5), row("v", 0.02)];
        let own = VariantNote { trades_hash: Some("v".to_owned()), ..own("rsi", Some(0.02)) };
        let noted = LedgerSummary { families: vec![(family("rsi"), rows)], ..LedgerSummary::default() };
        let count = VariantCount::new(&noted, &[own], &week());
        let corrected = [count.p_value_bonferroni, count.p_value_bh].map(Option::unwrap);
        assert!(count.count == 3 && corrected.iter().all(|p| (p - 0.06).abs() < 1e-12), "{corrected:?}");
    }

    #[test]
    fn what_no_other_variant_saw_is_unseen() {
        for (on, expected) in [(0..7, 0.0), (0..9, 0.0), (0..5, 2.0 / 7.0), (9..12, 1.0)] {
            let rows = [Row("a", 0..7, None, None, None), Row("b", on.clone(), None, None, None)];
            let found = counted(rows.iter().map(known).collect(), None).unseen_share.unwrap();
            assert!((found - expected).abs() < 1e-12, "{on:?}: {found}");
        }
    }
}
