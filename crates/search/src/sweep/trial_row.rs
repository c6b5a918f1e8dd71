//! One trial of a sweep, and the ranking of trials.

use super::objective::best_first;
use super::{Candidate, Figures, Outcome};
use std::cmp::Ordering;

#[derive(Clone, Debug, PartialEq)]
pub struct TrialRow {
    pub trial: u64,
    pub candidate: Candidate,
    pub rung: u32,
    /// Fraction of the candles used on that rung.
    pub share: f64,
    pub outcome: Outcome,
    pub score: Option<f64>,
}

impl TrialRow {
    pub fn figures(&self) -> Option<&Figures> {
        match &self.outcome {
            Outcome::Figures(figures) => Some(figures),
            Outcome::Refused(_) => None,
        }
    }
}

/// Sorts rows from best to worst.
///
/// Later rungs come first, then rows with a score, then earlier trials.
pub fn ranked(rows: &[TrialRow]) -> Vec<&TrialRow> {
    let mut ranked: Vec<&TrialRow> = rows.iter().collect();
    ranked.sort_by(|one, two| better_first(one, two));
    ranked
}

pub(super) fn better_first(one: &TrialRow, two: &TrialRow) -> Ordering {
    let order = two.score.is_some().cmp(&one.score.is_some()).then(two.rung.cmp(&one.rung));
    order.then(best_first(one.score, two.score)).then(one.trial.cmp(&two.trial))
}
