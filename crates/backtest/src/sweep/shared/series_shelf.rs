//! The declared series of a search: each computed once, by the first trial that needs it, and put away by the last.

use super::coded_series::CodedSeries;
use crate::BacktestError;
use candlewick_sdk::{Candle, Declaration, DeclaredEntry, DeclaredSeries, SeriesKey};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What trials to come need.
#[derive(Default)]
pub(crate) struct Layout {
    trials: usize,
    /// By the first series of a trial, or by none: those of one come together, so that few series are there at a time.
    groups: HashMap<Option<SeriesKey>, usize>,
    /// The trials of each group.
    members: Vec<Vec<usize>>,
    /// The bits of the levels of each series, and how many trials need it.
    places: HashMap<SeriesKey, (HashSet<u64>, usize)>,
}

/// Series by their key.
pub(crate) struct SeriesShelf {
    places: Mutex<HashMap<SeriesKey, Arc<Place>>>,
}

/// A series that several trials need.
struct Place {
    /// All levels that any of them compares it with.
    levels: Vec<f64>,
    /// Who computes it has it locked; the others wait for what they would have to compute as well.
    content: Mutex<Content>,
}

struct Content {
    coded: Option<Arc<CodedSeries>>,
    /// The bits of the first numbers.
    head: Vec<u64>,
    /// How many trials are still to come.
    uses: usize,
}

/// Candles between the numbers and their codes: so many numbers stay in the nearest cache.
const AT_ONCE: usize = 1_024;
/// So many numbers are computed for each trial, to see that a key means one series.
const HEAD: usize = 256;

impl Layout {
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

impl SeriesShelf {
    pub(crate) fn new() -> Self {
        Self { places: Mutex::new(HashMap::new()) }
    }

    /// Makes room for these series, and for no others; the groups of trials, each of which shares its first series.
    pub(crate) fn lay_out(&self, layout: Layout) -> Vec<Vec<usize>> {
        let Layout { members, places, .. } = layout;
        let place = |(key, (levels, uses)): (SeriesKey, (HashSet<u64>, usize))| {
            let mut levels: Vec<f64> = levels.into_iter().map(f64::from_bits).collect();
            levels.sort_by(f64::total_cmp);
            levels.dedup();
            levels.shrink_to_fit();
            let content = Mutex::new(Content { coded: None, head: Vec::new(), uses });
            // One with too many levels is left out: each trial then computes it for itself.
            (levels.len() <= CodedSeries::MOST_LEVELS).then(|| (key, Arc::new(Place { levels, content })))
        };
        *lock(&self.places) = places.into_iter().filter_map(place).collect();
        members
    }

    /// The series of one trial.
    ///
    /// # Errors
    /// [`BacktestError::MendDeclaration`] when a key means two series.
    pub(crate) fn take(
        &self,
        declared: &mut [DeclaredSeries],
        entries: &[DeclaredEntry],
        candles: &[Candle],
    ) -> Result<Vec<Arc<CodedSeries>>, BacktestError> {
        let take = |(index, series): (usize, &mut DeclaredSeries)| {
            let place = lock(&self.places).get(series.key()).cloned();
            let levels: Vec<f64> = levels_of(index, entries).collect();
            match place {
                Some(place) if levels.iter().all(|level| place.levels.contains(level)) => {
                    place.take(series, candles)
                }
                // Nobody said that this trial would come.
                _ => Ok(Arc::new(code(series, levels, candles, &mut Vec::new()))),
            }
        };
        declared.iter_mut().enumerate().map(take).collect()
    }
}

impl Place {
    fn take(
        &self,
        series: &mut DeclaredSeries,
        candles: &[Candle],
    ) -> Result<Arc<CodedSeries>, BacktestError> {
        let mut content = lock(&self.content);
        content.uses = content.uses.saturating_sub(1);
        let coded = if let Some(coded) = &content.coded {
            let mut values = Vec::with_capacity(HEAD);
            series.fill(&candles[..content.head.len().min(candles.len())], &mut values);
            if values.iter().map(|value| value.to_bits()).ne(content.head.iter().copied()) {
                let problem = format!("\"{}\" stands for two different series", series.key());
                return Err(BacktestError::MendDeclaration { problem });
            }
            coded.clone()
        } else {
            let coded = Arc::new(code(series, self.levels.clone(), candles, &mut content.head));
            content.coded = Some(coded.clone());
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

/// Computes a series; its first numbers are left in `head`.
fn code(
    series: &mut DeclaredSeries,
    levels: Vec<f64>,
    candles: &[Candle],
    head: &mut Vec<u64>,
) -> CodedSeries {
    let mut coded = CodedSeries::new(levels, candles.len());
    let mut values = Vec::with_capacity(AT_ONCE);
    head.clear();
    for few in candles.chunks(AT_ONCE) {
        values.clear();
        series.fill(few, &mut values);
        if head.is_empty() {
            head.extend(values.iter().take(HEAD).map(|value| value.to_bits()));
        }
        coded.extend(&values);
    }
    coded
}

fn lock<T>(content: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whoever panicked with it has ended the sweep.
    content.lock().unwrap_or_else(PoisonError::into_inner)
}
