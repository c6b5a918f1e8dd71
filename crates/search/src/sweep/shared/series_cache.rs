//! The declared series of a search: each computed once, by the first trial that needs it, and dropped by the last.

use super::quantized_series::QuantizedSeries;
use candlewick_backtest::BacktestError;
use candlewick_sdk::{Candle, Declaration, DeclaredEntry, DeclaredSeries, SeriesKey};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What trials to come need.
#[derive(Default)]
pub(crate) struct CachePlan {
    trials: usize,
    /// By the first series of a trial, or by none: those of one come together, so that few series are there at a time.
    groups: HashMap<Option<SeriesKey>, usize>,
    /// The trials of each group.
    members: Vec<Vec<usize>>,
    /// The bits of the levels of each series, and how many trials need it.
    places: HashMap<SeriesKey, (HashSet<u64>, usize)>,
}

/// Series by their key.
pub(crate) struct SeriesCache {
    places: Mutex<HashMap<SeriesKey, Arc<Place>>>,
    /// Room of series that nobody needs any more. Given back and asked for anew, it would lie about in pieces.
    rooms: Mutex<Vec<Vec<u8>>>,
}

/// A series that several trials need.
struct Place {
    /// All levels that any of them compares it with.
    levels: Vec<f64>,
    /// Who computes it has it locked; the others wait for what they would have to compute as well.
    content: Mutex<Content>,
}

struct Content {
    coded: Option<Arc<QuantizedSeries>>,
    /// The bits of the first numbers.
    head: Vec<u64>,
    /// How many trials are still to come.
    uses: usize,
}

/// Candles between the numbers and their codes: so many numbers stay in the nearest cache.
const AT_ONCE: usize = 1_024;
/// So many numbers are computed for each trial, to see that a key means one series.
const HEAD: usize = 256;

impl CachePlan {
    /// Adds a trial, with what its strategy declares.
    pub(crate) fn add(&mut self, declared: Option<Declaration>) {
        let (series, entries) = declared.map(Declaration::into_parts).unwrap_or_default();
        let next = self.groups.len();
        let group = *self.groups.entry(series.first().map(|first| first.key().clone())).or_insert(next);
        if group == next {
            self.members.push(Vec::new());
        }
        self.members[group].push(self.trials);
        self.trials += 1;
        for (index, series) in series.iter().enumerate() {
            let (levels, uses) = self.places.entry(series.key().clone()).or_default();
            levels.extend(levels_of(index, &entries).map(f64::to_bits));
            *uses += 1;
        }
    }
}

impl SeriesCache {
    pub(crate) fn new() -> Self {
        Self { places: Mutex::new(HashMap::new()), rooms: Mutex::new(Vec::new()) }
    }

    /// Makes room for these series, and for no others; the groups of trials, each of which shares its first series.
    pub(crate) fn reserve(&self, layout: CachePlan) -> Vec<Vec<usize>> {
        let CachePlan { members, places, .. } = layout;
        let place = |(key, (levels, uses)): (SeriesKey, (HashSet<u64>, usize))| {
            let mut levels: Vec<f64> = levels.into_iter().map(f64::from_bits).collect();
            levels.sort_by(f64::total_cmp);
            levels.dedup();
            levels.shrink_to_fit();
            let content = Mutex::new(Content { coded: None, head: Vec::new(), uses });
            // One with too many levels is left out: each trial then computes it for itself.
            (levels.len() <= QuantizedSeries::MOST_LEVELS).then(|| (key, Arc::new(Place { levels, content })))
        };
        *lock(&self.places) = places.into_iter().filter_map(place).collect();
        members
    }

    /// Puts everything away.
    pub(crate) fn clear(&self) {
        lock(&self.places).clear();
        lock(&self.rooms).clear();
    }

    /// The series of one trial, to be put back once it knows its candidates.
    ///
    /// # Errors
    /// [`BacktestError::DeclarationMismatch`] when a key means two series.
    pub(crate) fn take(
        &self,
        declared: &mut [DeclaredSeries],
        entries: &[DeclaredEntry],
        candles: &[Candle],
    ) -> Result<Vec<Arc<QuantizedSeries>>, BacktestError> {
        let take = |(index, series): (usize, &mut DeclaredSeries)| {
            let place = lock(&self.places).get(series.key()).cloned();
            let levels: Vec<f64> = levels_of(index, entries).collect();
            match place {
                Some(place) if levels.iter().all(|level| place.levels.contains(level)) => {
                    place.take(series, candles, &self.rooms)
                }
                // Nobody said that this trial would come, or its series has too many levels to be shared.
                _ => {
                    let room = lock(&self.rooms).pop().unwrap_or_default();
                    Ok(Arc::new(code(series, QuantizedSeries::new(levels, candles.len(), room), candles).0))
                }
            }
        };
        declared.iter_mut().enumerate().map(take).collect()
    }

    /// Takes series back from a trial. What no trial needs makes room for the next.
    pub(crate) fn put_back(&self, series: Vec<Arc<QuantizedSeries>>) {
        for room in series.into_iter().filter_map(Arc::into_inner).map(QuantizedSeries::into_room) {
            lock(&self.rooms).push(room);
        }
    }
}

impl Place {
    fn take(
        &self,
        series: &mut DeclaredSeries,
        candles: &[Candle],
        rooms: &Mutex<Vec<Vec<u8>>>,
    ) -> Result<Arc<QuantizedSeries>, BacktestError> {
        let mut content = lock(&self.content);
        content.uses = content.uses.saturating_sub(1);
        let coded = if let Some(coded) = &content.coded {
            let mut values = Vec::with_capacity(HEAD);
            series.fill(&candles[..content.head.len().min(candles.len())], &mut values);
            if values.iter().map(|value| value.to_bits()).ne(content.head.iter().copied()) {
                let problem = format!("\"{}\" stands for two different series", series.key());
                return Err(BacktestError::DeclarationMismatch { problem });
            }
            coded.clone()
        } else {
            let room = lock(rooms).pop().unwrap_or_default();
            let empty = QuantizedSeries::new(self.levels.clone(), candles.len(), room);
            let (coded, head) = code(series, empty, candles);
            let coded = Arc::new(coded);
            (content.coded, content.head) = (Some(coded.clone()), head);
            coded
        };
        if content.uses == 0 {
            content.coded = None;
        }
        Ok(coded)
    }
}

/// The levels that a series, by its place, is compared with.
fn levels_of(series: usize, entries: &[DeclaredEntry]) -> impl Iterator<Item = f64> {
    let comparisons = entries.iter().flat_map(|entry| &entry.when);
    comparisons.filter(move |of| of.series == series && !of.level.is_nan()).map(|of| of.level)
}

/// Computes a series, and the bits of its first numbers.
fn code(
    series: &mut DeclaredSeries,
    mut coded: QuantizedSeries,
    candles: &[Candle],
) -> (QuantizedSeries, Vec<u64>) {
    let mut values = Vec::with_capacity(AT_ONCE);
    let mut head = Vec::new();
    for few in candles.chunks(AT_ONCE) {
        values.clear();
        series.fill(few, &mut values);
        if head.is_empty() {
            head = values.iter().take(HEAD).map(|value| value.to_bits()).collect();
        }
        coded.extend(&values);
    }
    (coded, head)
}

fn lock<T>(content: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whoever panicked with it has ended the sweep.
    content.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// A trial that buys where so many times the price is below a level.
    fn trial(times: f64, level: f64) -> Declaration {
        let mut declared = Declaration::new();
        let series = declared.series("times", &[times], move |candle| Some(times * candle.close()));
        declared.buy_when([series.below(level)])
    }

    #[test]
    fn a_series_is_there_until_its_last_trial_and_then_makes_room_for_the_next() {
        let trials = [(1.0, 3.0), (2.0, 7.0), (1.0, 5.0)];
        let (cache, candles) = (SeriesCache::new(), candles());
        let mut layout = CachePlan::default();
        for (times, level) in trials {
            layout.add(Some(trial(times, level)));
        }
        layout.add(None);
        assert_eq!(cache.reserve(layout), [vec![0, 2], vec![1], vec![3]]);
        let take = |place: usize| {
            let (times, level) = trials[place];
            let (mut series, entries) = trial(times, level).into_parts();
            let taken = cache.take(&mut series, &entries, &candles).unwrap();
            let marks = taken[0].marks(&entries[0].when[0]).unwrap();
            for (index, candle) in candles.iter().enumerate() {
                assert_eq!(marks.has(index), times * candle.close() < level, "{place} {index}");
            }
            taken
        };
        let rooms = || lock(&cache.rooms).len();
        let (first, last) = (take(0), take(2));
        assert!(Arc::ptr_eq(&first[0], &last[0]), "it is computed once");
        cache.put_back(last);
        assert_eq!(rooms(), 0, "the first trial still looks at it");
        cache.put_back(first);
        assert_eq!(rooms(), 1);
        let other = take(1);
        assert_eq!(rooms(), 0, "it is where the one before it was");
        cache.put_back(other);
        // Trials whose series is not shared leave room for each other as well.
        lock(&cache.places).clear();
        for place in [0, 1, 2, 0] {
            let alone = take(place);
            assert_eq!(rooms(), 0);
            cache.put_back(alone);
            assert_eq!(rooms(), 1);
        }
        cache.clear();
        assert_eq!((rooms(), lock(&cache.places).len()), (0, 0));
    }
}
