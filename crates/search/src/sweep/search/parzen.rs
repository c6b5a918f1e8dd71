//! Tree-structured Parzen estimator, with one estimator per axis.
//!
//! The search prefers values that are frequent among good sets and rare among other sets. Source: J. Bergstra,
//! R. Bardenet, Y. Bengio, B. Kégl, *Algorithms for Hyper-Parameter Optimization* (2011).

use super::super::space::{Candidate, Space};
use super::points::SeededRandom;
use crate::SearchError;
use std::collections::HashSet;
use tpe::density_estimation::DefaultEstimatorBuilder;
use tpe::{TpeOptimizer, categorical_range, histogram_estimator, parzen_estimator, range};

const INITIAL_RANDOM_SETS: usize = 32;
const MAX_MODEL_DRAWS: u32 = 32;
/// Number of random draws without a new set after which the search space counts as exhausted.
const MAX_RANDOM_DRAWS: u32 = 10_000;

/// State of an adaptive search. Recording the same scores in a new search restores the state.
pub(crate) struct Parzen<'a> {
    space: &'a Space,
    models: Vec<TpeOptimizer<DefaultEstimatorBuilder>>,
    seed: u64,
    batch: u64,
    seen: HashSet<Candidate>,
}

impl<'a> Parzen<'a> {
    pub(crate) fn new(space: &'a Space, seed: u64) -> Result<Self, SearchError> {
        let model = |axis: &crate::sweep::Axis| {
            let (estimator, range) = match axis.listed_values() {
                Some(list) if !axis.is_numeric() => (histogram_estimator(), categorical_range(list.len())),
                _ => (parzen_estimator(), range(0.0, 1.0)),
            };
            let range = range.map_err(|error| SearchError::invalid_search(error.to_string()))?;
            Ok(TpeOptimizer::new(estimator, range))
        };
        let models = space.axes().iter().map(model).collect::<Result<_, SearchError>>()?;
        Ok(Self { space, models, seed, batch: 0, seen: HashSet::new() })
    }

    pub(crate) fn ask(&mut self, most: usize) -> Vec<Candidate> {
        let mut random = SeededRandom::new(self.seed, self.batch);
        let by_model = self.seen.len() >= INITIAL_RANDOM_SETS;
        self.batch += 1;
        let mut asked = Vec::new();
        while asked.len() < most {
            let modelled = if by_model { self.draw_from_model(&mut random) } else { None };
            let Some(candidate) = modelled.or_else(|| self.draw_randomly(&mut random)) else { break };
            self.seen.insert(candidate.clone());
            asked.push(candidate);
        }
        asked
    }

    /// Records the score of a set (higher is better). `None` counts as the worst score.
    pub(crate) fn record(&mut self, candidate: &Candidate, score: Option<f64>) {
        // The models minimize a loss, but a higher score is better.
        let loss = score.map_or(f64::INFINITY, |score| -score);
        let axes = self.space.axes().iter().zip(candidate.iter());
        for (model, (axis, setting)) in self.models.iter_mut().zip(axes) {
            let place = match axis.listed_values() {
                Some(list) if !axis.is_numeric() => {
                    list.iter().position(|one| one == setting).unwrap_or_default() as f64
                }
                _ => axis.to_fraction(setting),
            };
            // The call cannot fail, because the position is in range and the loss is a number.
            let _ = model.tell(place, loss);
        }
    }

    fn draw_from_model(&mut self, random: &mut SeededRandom) -> Option<Candidate> {
        for _ in 0..MAX_MODEL_DRAWS {
            let axes = self.space.axes().iter();
            let fractions = self.models.iter_mut().zip(axes).map(|(model, axis)| {
                let place = model.ask(random.generator()).unwrap_or_default();
                match axis.listed_values() {
                    Some(list) if !axis.is_numeric() => (place.floor() + 0.5) / list.len() as f64,
                    _ => place,
                }
            });
            let candidate = self.space.candidate_from(fractions.collect::<Vec<_>>());
            if self.is_new(&candidate) {
                return Some(candidate);
            }
        }
        None
    }

    fn draw_randomly(&self, random: &mut SeededRandom) -> Option<Candidate> {
        let mut draw = || {
            let fractions: Vec<f64> = self.space.axes().iter().map(|_| random.next_fraction()).collect();
            self.space.candidate_from(fractions)
        };
        (0..MAX_RANDOM_DRAWS).map(|_| draw()).find(|candidate| self.is_new(candidate))
    }

    fn is_new(&self, candidate: &Candidate) -> bool {
        self.space.meets_conditions(candidate) && !self.seen.contains(candidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::axis::{AxisScale, AxisValues};
    use crate::sweep::tests::{listed, whole};
    use crate::sweep::{Axis, AxisTarget, Setting};

    const BATCH: usize = 16;

    fn space() -> Space {
        let axis =
            |name: &str, values, scale| Axis::new(name.to_owned(), AxisTarget::Parameter, values, scale);
        let periods = (1..=200).map(Setting::Whole).collect();
        let sides = ["up", "down", "both", "none"].map(|text| Setting::Text(text.into()));
        let axes = vec![
            axis("level", AxisValues::Between(0.0, 100.0), AxisScale::Linear),
            axis("period", AxisValues::Listed(periods), AxisScale::Log),
            listed("side", AxisTarget::Parameter, sides),
        ];
        Space::from_axes(axes, &[])
    }

    /// Returns a score whose maximum of 1.0 is at level 70, period 20, side "both".
    fn score(set: &Candidate) -> f64 {
        let [level, period] = [&set[0], &set[1]].map(|setting| setting.to_number().unwrap());
        let side = if set[2].to_string() == "both" { 0.0 } else { 0.5 };
        1.0 - ((level - 70.0) / 50.0).powi(2) - (period / 20.0).ln().powi(2) / 4.0 - side
    }

    fn searched(space: &Space, seed: u64, batches: usize) -> Vec<(Candidate, f64)> {
        let mut model = Parzen::new(space, seed).unwrap();
        let mut tried = Vec::new();
        for _ in 0..batches {
            for set in model.ask(BATCH) {
                let score = score(&set);
                model.record(&set, Some(score));
                tried.push((set, score));
            }
        }
        tried
    }

    #[test]
    fn batches_get_better_than_chance() {
        let space = space();
        for seed in 0..10 {
            let tried = searched(&space, seed, 12);
            let mean = |part: &[(Candidate, f64)]| {
                part.iter().map(|(_, score)| score).sum::<f64>() / part.len() as f64
            };
            let (chance, last) = (mean(&tried[..2 * BATCH]), mean(&tried[tried.len() - 2 * BATCH..]));
            assert!(last > chance + 0.3, "seed {seed}: {chance} by chance, {last} at last");
        }
    }

    #[test]
    fn asks_for_no_set_twice_and_exhausts_a_small_space() {
        let tried = searched(&space(), 1, 20);
        let distinct: HashSet<&Candidate> = tried.iter().map(|(set, _)| set).collect();
        assert_eq!(distinct.len(), tried.len());
        let few = Space::from_axes(vec![whole("period", 0..20)], &[]);
        let mut model = Parzen::new(&few, 1).unwrap();
        let mut asked = Vec::new();
        for _ in 0..4 {
            for set in model.ask(BATCH) {
                model.record(&set, None);
                asked.push(set);
            }
        }
        assert_eq!(asked.len(), 20);
    }
}
