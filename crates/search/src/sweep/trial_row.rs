//! One trial of a sweep, and which of two is better.

use super::objective::best_first;
use super::{Candidate, Figures, Outcome};
use std::cmp::Ordering;

/// One set of parameters and what it came to.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRow {
    /// Its place in the search, from 0.
    pub trial: u64,
    /// The parameters, in the order of the axes.
    pub candidate: Candidate,
    /// The last rung on which it ran.
    pub rung: u32,
    /// What part of the candles that rung has.
    pub share: f64,
    /// How it ended there.
    pub outcome: Outcome,
    /// How good that is; `None` when it does not count.
    pub score: Option<f64>,
}

impl TrialRow {
    /// The figures, unless the strategy refused the parameters.
    pub fn figures(&self) -> Option<&Figures> {
        match &self.outcome {
            Outcome::Figures(figures) => Some(figures),
            Outcome::Refused(_) => None,
        }
    }
}

/// The rows from the best to the worst: a later rung before an earlier one, what counts before what does not, and
/// among equals the one that was tried first.
pub fn ranked(rows: &[TrialRow]) -> Vec<&TrialRow> {
    let mut ranked: Vec<&TrialRow> = rows.iter().collect();
    ranked.sort_by(|one, two| better_first(one, two));
    ranked
}

pub(super) fn better_first(one: &TrialRow, two: &TrialRow) -> Ordering {
    let order = two.score.is_some().cmp(&one.score.is_some()).then(two.rung.cmp(&one.rung));
    order.then(best_first(one.score, two.score)).then(one.trial.cmp(&two.trial))
}
