//! Line formats of a variant ledger. The first fields identify the format, so most lines need not be parsed in full.

use super::ledger::{KnownVariant, VariantNote};
use super::sample::SeriesSample;
use super::{CandleSample, Family, Look, LookKind};
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
pub(super) struct CandlesLine {
    /// Hash of all complete lines before this one.
    pub(super) chain: String,
    pub(super) candles: String,
    /// Id of the first recorded version of these candles, equal to `candles` if no later candles were added.
    pub(super) root: String,
    /// Whether the user set the end of the candles. Truncated candles never count as a version of others.
    #[serde(default, rename = "is_cut")]
    pub(super) is_truncated: bool,
    pub(super) sample: CandleSample,
}

impl CandlesLine {
    pub(super) fn new((chain, candles, root): (String, String, String), look: &Look) -> Self {
        Self { chain, candles, root, is_truncated: look.is_truncated, sample: look.candles.clone() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct GapLine {
    pub(super) chain: String,
    pub(super) lost: String,
}

/// Planned sets of a run, written before any of them starts. Only the last line of a run counts.
#[derive(Serialize, Deserialize)]
pub(super) struct RunLine {
    pub(super) chain: String,
    #[serde(rename = "trying")]
    pub(super) strategy: String,
    pub(super) run: String,
    /// Number of sets that may have been tried but are not recorded.
    pub(super) sets: u64,
    /// Number of planned sets that belong to an earlier, killed process.
    #[serde(default)]
    pub(super) unclosed: u64,
    pub(super) is_done: bool,
    /// Candles of the run; `None` in older lines.
    #[serde(default)]
    pub(super) on: Option<SampledPart>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SampledPart {
    pub(super) candles: String,
    seen: Vec<[usize; 2]>,
    from: Millis,
    to: Millis,
}

impl SampledPart {
    pub(super) fn new(candles: &str, look: &Look) -> Self {
        let (seen, Range { start, end }) = (look.candles.index_ranges(&look.span), look.span.clone());
        Self { candles: candles.to_owned(), seen, from: start, to: end }
    }

    pub(super) fn sample(&self, candles: &KnownCandles) -> Option<CandleSample> {
        Some(candles.0.get(&self.candles)?.sample.part(&self.seen, &(self.from..self.to)))
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct VariantsLine {
    /// Hash of the previous lines; empty in lines of older program versions.
    #[serde(default)]
    pub(super) chain: String,
    pub(super) key: String,
    pub(super) strategy: String,
    /// Symbols of the candles. Set only in older lines, which do not identify the candles otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    symbols: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    interval: String,
    #[serde(default)]
    pub(super) kind: LookKind,
    /// Id of a repeatable run; `None` for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
    #[serde(default)]
    pub(super) candles: String,
    #[serde(default)]
    seen: Vec<[usize; 2]>,
    pub(super) from: Millis,
    pub(super) to: Millis,
    /// Name, p-value, daily Sharpe ratio and trades hash of each variant.
    variants: Vec<VariantRow>,
}

/// Fields of one variant. Older lines lack the trades hash.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum VariantRow {
    Full(String, Option<f64>, Option<f64>, Option<String>),
    Older(String, Option<f64>, Option<f64>),
}

#[derive(Default)]
pub(super) struct KnownCandles(HashMap<String, Arc<CandlesLine>>);

impl KnownCandles {
    pub(super) fn read(&mut self, line: &str) {
        if let Ok(line) = serde_json::from_str::<CandlesLine>(line) {
            self.0.insert(line.candles.clone(), Arc::new(line));
        }
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn add_missing(&mut self, other: &Self) {
        for (name, line) in &other.0 {
            self.0.entry(name.clone()).or_insert_with(|| Arc::clone(line));
        }
    }

    fn sample_ends_at(&self, name: &str, end: Millis) -> bool {
        self.0.get(name).is_some_and(|line| line.sample.ends_at(end))
    }

    pub(super) fn resolve_root(&self, id: &str, look: &Look) -> String {
        if look.is_truncated || self.contains(id) {
            return self.root_of(id);
        }
        self.root_of_shorter(&look.candles).unwrap_or_else(|| id.to_owned())
    }

    fn root_of(&self, name: &str) -> String {
        self.0.get(name).map_or_else(|| name.to_owned(), |line| line.root.clone())
    }

    /// Returns the root of the longest known version that `sample` extends. Truncated samples are excluded.
    fn root_of_shorter(&self, sample: &CandleSample) -> Option<String> {
        let length = |line: &CandlesLine| (line.sample.span().map(|span| span.end), line.candles.clone());
        let mut longest: HashMap<&str, &CandlesLine> = HashMap::new();
        for line in self.0.values().map(|line| &**line).filter(|line| !line.is_truncated) {
            let known = longest.entry(&line.root).or_insert(line);
            if length(line) > length(known) {
                *known = line;
            }
        }
        let grown = longest.into_values().filter(|line| sample.is_extension_of(&line.sample));
        grown.max_by_key(|line| length(line)).map(|line| line.root.clone())
    }
}

impl VariantsLine {
    pub(super) fn new(
        (chain, family): (String, &Family),
        (kind, run): (LookKind, Option<&String>),
        (candles, seen, span): (String, Vec<[usize; 2]>, &Range<Millis>),
        notes: &[&VariantNote],
    ) -> Self {
        let figures = |note: &&VariantNote| {
            VariantRow::Full(
                note.variant.name.clone(),
                note.p_value,
                note.daily_sharpe,
                note.trades_hash.clone(),
            )
        };
        Self {
            chain,
            key: family.key(),
            strategy: family.strategy.clone(),
            symbols: Vec::new(),
            interval: String::new(),
            kind,
            run: run.cloned(),
            candles,
            seen,
            from: span.start,
            to: span.end,
            variants: notes.iter().map(figures).collect(),
        }
    }

    pub(super) fn sample(&self, candles: &KnownCandles) -> CandleSample {
        let span = self.from..self.to;
        match candles.0.get(&self.candles) {
            Some(line) => line.sample.part(&self.seen, &span),
            None => CandleSample(
                self.symbols
                    .iter()
                    .map(|one| SeriesSample::without_points(one, &self.interval, &span))
                    .collect(),
            ),
        }
    }

    pub(super) fn into_variants(self, candles: &KnownCandles) -> Vec<KnownVariant> {
        let seen = Arc::new(self.sample(candles));
        let (span, root) = (self.from..self.to, candles.root_of(&self.candles));
        let is_to_the_end = self.kind.is_single_run() && candles.sample_ends_at(&self.candles, self.to);
        let known = |written| {
            let (variant, p_value, sharpe_of_a_day, trades) = match written {
                VariantRow::Full(variant, p_value, sharpe, trades) => (variant, p_value, sharpe, trades),
                VariantRow::Older(variant, p_value, sharpe) => (variant, p_value, sharpe, None),
            };
            let (root, span, seen) = (root.clone(), span.clone(), Arc::clone(&seen));
            let candles = self.candles.clone();
            KnownVariant {
                variant,
                p_value,
                daily_sharpe: sharpe_of_a_day,
                trades_hash: trades,
                candles_id: candles,
                root,
                span,
                sample: seen,
                is_single_run_to_end: is_to_the_end,
            }
        };
        self.variants.into_iter().map(known).collect()
    }
}
