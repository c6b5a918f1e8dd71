//! Search methods, which choose the parameter sets and their order.

mod parzen;
mod points;

pub(crate) use parzen::Parzen;

use super::objective::parse_name;
use super::space::{Candidate, Space};
use crate::SearchError;
use points::SeededRandom;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    Grid,
    Random,
    LatinHypercube,
    Sobol,
    Tpe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchSettings {
    pub search: Search,
    /// Number of parameter sets to try. A grid search ignores this number.
    pub trials: u64,
    pub seed: u64,
    /// Number of sets per round of an adaptive search. Other searches ignore this number.
    pub batch: u64,
}

/// Default batch size: small enough to adapt often, large enough for several threads.
pub const DEFAULT_BATCH: u64 = 16;

/// Number of consecutive points without a new set after which the search space counts as exhausted.
const MAX_REPEATED_POINTS: u64 = 10_000;
const MAX_SHUFFLED_SETS: u64 = 100_000;
const MAX_TRIALS: u64 = 1_000_000;

impl Search {
    pub const ALL: [Self; 5] = [Self::Grid, Self::Random, Self::LatinHypercube, Self::Sobol, Self::Tpe];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Random => "random",
            Self::LatinHypercube => "latin-hypercube",
            Self::Sobol => "sobol",
            Self::Tpe => "tpe",
        }
    }

    pub const fn is_adaptive(self) -> bool {
        matches!(self, Self::Tpe)
    }
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Search {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_name(Self::ALL, Self::as_str, text)
    }
}

impl SearchSettings {
    pub fn check(&self, space: &Space) -> Result<(), SearchError> {
        let wrong = |problem: String| Err(SearchError::invalid_search(problem));
        if space.axes().is_empty() {
            return wrong("the search has no parameter: name at least one".to_owned());
        }
        if self.search != Search::Grid && !(1..=MAX_TRIALS).contains(&self.trials) {
            return wrong(format!("{} trials are not possible: use 1 to {MAX_TRIALS}", self.trials));
        }
        if self.search.is_adaptive() && !(1..=MAX_TRIALS).contains(&self.batch) {
            return wrong(format!("a batch of {} sets is not possible: use 1 to {MAX_TRIALS}", self.batch));
        }
        if self.search == Search::Sobol && space.axes().len() > points::MAX_SOBOL_AXES {
            return wrong(format!("a Sobol search supports at most {} parameters", points::MAX_SOBOL_AXES));
        }
        Ok(())
    }

    pub const fn round_count(&self) -> u64 {
        if self.search.is_adaptive() { self.trials.div_ceil(self.batch) } else { 1 }
    }

    pub fn max_sets(&self, space: &Space) -> Result<u64, SearchError> {
        Ok(if self.search.is_adaptive() { self.trials } else { plan_sets(space, self)?.len() as u64 })
    }
}

/// Returns the sets that meet the conditions, in search order and without duplicates.
pub(crate) fn plan_sets(space: &Space, settings: &SearchSettings) -> Result<Vec<Candidate>, SearchError> {
    settings.check(space)?;
    let SearchSettings { search, trials, seed, .. } = *settings;
    let found = match search {
        Search::Grid => space.all_sets()?,
        Search::Random => random_sets(space, trials, seed)?,
        Search::LatinHypercube => {
            find_sets(space, trials, |round| points::latin_hypercube(space.axes().len(), trials, seed, round))
        }
        Search::Sobol => find_sets(space, trials, |round| points::sobol(space.axes().len(), seed, round)),
        Search::Tpe => Vec::new(),
    };
    if found.is_empty() && search != Search::Tpe {
        return Err(no_set_error());
    }
    Ok(found)
}

pub(crate) fn no_set_error() -> SearchError {
    SearchError::invalid_search("no parameter set meets the conditions")
}

fn random_sets(space: &Space, trials: u64, seed: u64) -> Result<Vec<Candidate>, SearchError> {
    let mut random = SeededRandom::new(seed, 0);
    if space.count().is_some_and(|count| count <= MAX_SHUFFLED_SETS) {
        let mut all = space.all_sets()?;
        random.shuffle(&mut all);
        all.truncate(usize::try_from(trials).unwrap_or(usize::MAX));
        return Ok(all);
    }
    Ok(find_sets(space, trials, |_| {
        let points: Vec<Vec<f64>> = (0..MAX_REPEATED_POINTS)
            .map(|_| space.axes().iter().map(|_| random.next_fraction()).collect())
            .collect();
        points
    }))
}

fn find_sets(space: &Space, wanted: u64, mut round_of: impl FnMut(u64) -> Vec<Vec<f64>>) -> Vec<Candidate> {
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for round in 0.. {
        let before = found.len();
        for point in round_of(round) {
            let candidate = space.candidate_from(point);
            if found.len() < wanted && space.meets_conditions(&candidate) && seen.insert(candidate.clone()) {
                found.push(candidate);
            }
        }
        if found.len() == wanted || found.len() == before {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Setting;
    use super::super::tests::whole;
    use super::*;

    fn space(periods: i64, conditions: &[&str]) -> Space {
        Space::from_axes(vec![whole("period", 0..periods), whole("level", 0..10)], conditions)
    }

    fn sets(space: &Space, search: Search, trials: u64, seed: u64) -> Vec<Candidate> {
        plan_sets(space, &SearchSettings { search, trials, seed, batch: DEFAULT_BATCH }).unwrap()
    }

    const RANDOM_SEARCHES: [Search; 3] = [Search::Random, Search::LatinHypercube, Search::Sobol];

    #[test]
    fn tries_no_set_twice_and_respects_conditions() {
        for periods in [50, 20_000] {
            let space = space(periods, &["level < period / 2"]);
            for search in RANDOM_SEARCHES {
                let sets = sets(&space, search, 200, 5);
                let distinct: HashSet<&Candidate> = sets.iter().collect();
                assert_eq!((sets.len(), distinct.len()), (200, 200), "{search}");
                assert!(sets.iter().all(|set| space.meets_conditions(set)), "{search}");
            }
        }
    }

    #[test]
    fn search_beyond_the_space_finds_every_set() {
        let space = space(4, &["level != 3"]);
        for search in RANDOM_SEARCHES.into_iter().chain([Search::Grid]) {
            assert_eq!(sets(&space, search, 500, 1).len(), 36, "{search}");
        }
    }

    #[test]
    fn seed_determines_the_order() {
        let space = space(20_000, &[]);
        for search in RANDOM_SEARCHES {
            assert_eq!(sets(&space, search, 50, 1), sets(&space, search, 50, 1), "{search}");
            assert_ne!(sets(&space, search, 50, 1), sets(&space, search, 50, 2), "{search}");
        }
    }

    #[test]
    fn spread_searches_cover_every_axis() {
        let space = space(20_000, &[]);
        for search in [Search::LatinHypercube, Search::Sobol] {
            let levels: Vec<usize> = (0..10)
                .map(|level| {
                    let is_it = |set: &&Candidate| set[1] == Setting::Whole(level);
                    sets(&space, search, 80, 3).iter().filter(is_it).count()
                })
                .collect();
            assert!(levels.iter().all(|count| (5..=11).contains(count)), "{search}: {levels:?}");
        }
    }
}
