//! Cache of declared indicator series. A series stays cached from the first trial that needs it to the last.

use super::quantized_series::QuantizedSeries;
use crate::SearchError;
use crate::sweep::trial_row::lock;
use candlewick_sdk::{Candle, Declaration, DeclaredSeries, DeclaredSignal, SeriesKey};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

#[derive(Default)]
pub(crate) struct CachePlan {
    trials: usize,
    /// Index in `members` by the first series of a trial. A group runs together, to limit the series in memory.
    groups: HashMap<Option<SeriesKey>, usize>,
    members: Vec<Vec<usize>>,
    series_by_key: HashMap<SeriesKey, (HashSet<u64>, usize)>,
}

pub(crate) struct SeriesCache {
    series_by_key: Mutex<HashMap<SeriesKey, Arc<CachedSeries>>>,
    /// Reusable buffers of evicted series; see docs/performance.md.
    buffers: Mutex<Vec<Vec<u8>>>,
}

struct CachedSeries {
    levels: Vec<f64>,
    /// Shared content, locked while computed: other trials then wait instead of computing the same series.
    content: Mutex<SeriesContent>,
}

struct SeriesContent {
    quantized: Option<Arc<QuantizedSeries>>,
    head: Vec<u64>,
    uses: usize,
}

/// Number of values per computed chunk; see docs/performance.md.
const CHUNK_LENGTH: usize = 1_024;
/// Number of values that each later trial recomputes, to detect a key that is used for two different series.
const VALUES_TO_VERIFY: usize = 256;

impl CachePlan {
    pub(crate) fn add_trial(&mut self, declared: Option<Declaration>) {
        let (series, entries) = declared.map(Declaration::into_parts).unwrap_or_default();
        let next = self.groups.len();
        let group = *self.groups.entry(series.first().map(|first| first.key().clone())).or_insert(next);
        if group == next {
            self.members.push(Vec::new());
        }
        self.members[group].push(self.trials);
        self.trials += 1;
        for (index, series) in series.iter().enumerate() {
            let (levels, uses) = self.series_by_key.entry(series.key().clone()).or_default();
            levels.extend(entry_levels(index, &entries).map(f64::to_bits));
            *uses += 1;
        }
    }
}

impl SeriesCache {
    pub(crate) fn new() -> Self {
        Self { series_by_key: Mutex::new(HashMap::new()), buffers: Mutex::new(Vec::new()) }
    }

    pub(crate) fn apply_plan(&self, layout: CachePlan) -> Vec<Vec<usize>> {
        let CachePlan { members, series_by_key, .. } = layout;
        let place = |(key, (levels, uses)): (SeriesKey, (HashSet<u64>, usize))| {
            let mut levels: Vec<f64> = levels.into_iter().map(f64::from_bits).collect();
            levels.sort_by(f64::total_cmp);
            levels.dedup();
            levels.shrink_to_fit();
            let content = Mutex::new(SeriesContent { quantized: None, head: Vec::new(), uses });
            (levels.len() <= QuantizedSeries::MAX_LEVELS)
                .then(|| (key, Arc::new(CachedSeries { levels, content })))
        };
        *lock(&self.series_by_key) = series_by_key.into_iter().filter_map(place).collect();
        members
    }

    pub(crate) fn clear(&self) {
        lock(&self.series_by_key).clear();
        lock(&self.buffers).clear();
    }

    /// Returns the declared series of one trial. Call [`release`](Self::release) after use.
    pub(crate) fn acquire(
        &self,
        declared: &mut [DeclaredSeries],
        entries: &[DeclaredSignal],
        candles: &[Candle],
    ) -> Result<Vec<Arc<QuantizedSeries>>, SearchError> {
        let take = |(index, series): (usize, &mut DeclaredSeries)| {
            let place = lock(&self.series_by_key).get(series.key()).cloned();
            let levels: Vec<f64> = entry_levels(index, entries).collect();
            match place {
                Some(place) if levels.iter().all(|level| place.levels.contains(level)) => {
                    place.acquire(series, candles, &self.buffers)
                }
                // Either the trial was not announced, or its series has too many levels to be shared.
                _ => {
                    let buffer = lock(&self.buffers).pop().unwrap_or_default();
                    Ok(Arc::new(
                        quantize(series, QuantizedSeries::new(levels, candles.len(), buffer), candles).0,
                    ))
                }
            }
        };
        declared.iter_mut().enumerate().map(take).collect()
    }

    pub(crate) fn release(&self, series: Vec<Arc<QuantizedSeries>>) {
        for buffer in series.into_iter().filter_map(Arc::into_inner).map(QuantizedSeries::into_buffer) {
            lock(&self.buffers).push(buffer);
        }
    }
}

impl CachedSeries {
    fn acquire(
        &self,
        series: &mut DeclaredSeries,
        candles: &[Candle],
        buffers: &Mutex<Vec<Vec<u8>>>,
    ) -> Result<Arc<QuantizedSeries>, SearchError> {
        let mut content = lock(&self.content);
        content.uses = content.uses.saturating_sub(1);
        let quantized = if let Some(quantized) = &content.quantized {
            let mut values = Vec::with_capacity(VALUES_TO_VERIFY);
            series.fill(&candles[..content.head.len().min(candles.len())], &mut values);
            if values.iter().map(|value| value.to_bits()).ne(content.head.iter().copied()) {
                let problem = format!("the key \"{}\" is used for two series", series.key());
                return Err(SearchError::DeclarationMismatch { problem });
            }
            quantized.clone()
        } else {
            let buffer = lock(buffers).pop().unwrap_or_default();
            let empty = QuantizedSeries::new(self.levels.clone(), candles.len(), buffer);
            let (quantized, head) = quantize(series, empty, candles);
            let quantized = Arc::new(quantized);
            (content.quantized, content.head) = (Some(quantized.clone()), head);
            quantized
        };
        if content.uses == 0 {
            content.quantized = None;
        }
        Ok(quantized)
    }
}

fn entry_levels(series: usize, entries: &[DeclaredSignal]) -> impl Iterator<Item = f64> {
    let comparisons = entries.iter().flat_map(|entry| &entry.comparisons);
    comparisons.filter(move |of| of.series == series && !of.level.is_nan()).map(|of| of.level)
}

fn quantize(
    series: &mut DeclaredSeries,
    mut quantized: QuantizedSeries,
    candles: &[Candle],
) -> (QuantizedSeries, Vec<u64>) {
    let mut values = Vec::with_capacity(CHUNK_LENGTH);
    let mut head = Vec::new();
    for few in candles.chunks(CHUNK_LENGTH) {
        values.clear();
        series.fill(few, &mut values);
        if head.is_empty() {
            head = values.iter().take(VALUES_TO_VERIFY).map(|value| value.to_bits()).collect();
        }
        quantized.extend(&values);
    }
    (quantized, head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Interval, Millis, Ohlcv};

    const CANDLES: i64 = 3_000;

    fn candles() -> Vec<Candle> {
        let candle = |minute: i64| {
            let price = 1.0 + (minute * 7 % 11) as f64;
            let numbers = Ohlcv { open: price, high: price, low: price, close: price, volume: 0.0 };
            Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
        };
        (0..CANDLES).map(candle).collect()
    }

    fn trial(times: f64, level: f64) -> Declaration {
        let mut declared = Declaration::new();
        let series = declared.add_series("times", &[times], move |candle| Some(times * candle.close()));
        declared.buy_when([series.below(level)])
    }

    #[test]
    fn caches_series_until_its_last_trial_and_reuses_the_buffer() {
        let trials = [(1.0, 3.0), (2.0, 7.0), (1.0, 5.0)];
        let (cache, candles) = (SeriesCache::new(), candles());
        let mut layout = CachePlan::default();
        for (times, level) in trials {
            layout.add_trial(Some(trial(times, level)));
        }
        layout.add_trial(None);
        assert_eq!(cache.apply_plan(layout), [vec![0, 2], vec![1], vec![3]]);
        let take = |place: usize| {
            let (times, level) = trials[place];
            let (mut series, entries) = trial(times, level).into_parts();
            let taken = cache.acquire(&mut series, &entries, &candles).unwrap();
            let bitset = taken[0].bitset(&entries[0].comparisons[0]).unwrap();
            for (index, candle) in candles.iter().enumerate() {
                assert_eq!(bitset.contains(index), times * candle.close() < level, "{place} {index}");
            }
            taken
        };
        let buffers = || lock(&cache.buffers).len();
        let (first, last) = (take(0), take(2));
        assert!(Arc::ptr_eq(&first[0], &last[0]), "it is computed once");
        cache.release(last);
        assert_eq!(buffers(), 0, "the first trial still looks at it");
        cache.release(first);
        assert_eq!(buffers(), 1);
        let other = take(1);
        assert_eq!(buffers(), 0, "it has the buffer of the one before it");
        cache.release(other);
        // Trials with unshared series also reuse buffers.
        lock(&cache.series_by_key).clear();
        for place in [0, 1, 2, 0] {
            let alone = take(place);
            assert_eq!(buffers(), 0);
            cache.release(alone);
            assert_eq!(buffers(), 1);
        }
        cache.clear();
        assert_eq!((buffers(), lock(&cache.series_by_key).len()), (0, 0));
    }
}
