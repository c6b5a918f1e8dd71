//! Trials of a sweep: rows, ranking, corrected p-values, and progress.

use super::objective::compare_scores;
use super::{Candidate, Figures, TrialEnd, TrialJournal};
use crate::SearchError;
use candlewick_statistics::benjamini_hochberg;
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Clone, Debug, PartialEq)]
pub struct TrialRow {
    pub trial: u64,
    pub candidate: Candidate,
    pub rung: u32,
    /// Fraction of the candles that the trial's rung uses.
    pub share: f64,
    pub outcome: TrialEnd,
    pub score: Option<f64>,
}

impl TrialRow {
    pub fn figures(&self) -> Option<&Figures> {
        match &self.outcome {
            TrialEnd::Figures(figures) => Some(figures),
            TrialEnd::Refused(_) => None,
        }
    }
}

/// Ranks rows from best to worst: rows with a score first, then by later rung, higher score and earlier trial.
pub fn rank_rows(rows: &[TrialRow]) -> Vec<&TrialRow> {
    let mut ranked: Vec<&TrialRow> = rows.iter().collect();
    ranked.sort_by(|one, two| compare_rows(one, two));
    ranked
}

fn compare_rows(one: &TrialRow, two: &TrialRow) -> Ordering {
    let order = two.score.is_some().cmp(&one.score.is_some()).then(two.rung.cmp(&one.rung));
    order.then(compare_scores(one.score, two.score)).then(one.trial.cmp(&two.trial))
}

/// Returns the Benjamini-Hochberg p-value of each row. The correction covers all rows with a p-value,
/// even rows without a score. The p-values are not corrected for overlapping trades.
pub fn corrected_p_values(rows: &[TrialRow]) -> Vec<Option<f64>> {
    let own: Vec<Option<f64>> = rows.iter().map(|row| row.figures()?.p_value).collect();
    let tested: Vec<f64> = own.iter().flatten().copied().collect();
    // Cannot fail, because p-values are probabilities.
    let mut corrected = benjamini_hochberg(&tested).unwrap_or_default().into_iter();
    own.iter().map(|p_value| p_value.and_then(|_| corrected.next())).collect()
}

#[derive(Clone, Copy, Debug)]
pub struct SweepProgress<'a> {
    /// Completed work, in thousandths of a trial that runs over all candles.
    pub done: u64,
    pub total: u64,
    pub best: Option<&'a TrialRow>,
}

/// Callback after every trial. [`ControlFlow::Break`] ends the sweep after the trials in flight.
pub type SweepWatcher<'a> = dyn FnMut(&SweepProgress<'_>) -> ControlFlow<()> + Send + 'a;

pub(super) struct ProgressTracker<'a, 'w> {
    pub(super) journal: &'a mut TrialJournal,
    watcher: &'a mut SweepWatcher<'w>,
    best: Option<TrialRow>,
    done: u64,
    pub(super) total: u64,
    pub(super) is_stopped: bool,
}

impl<'a, 'w> ProgressTracker<'a, 'w> {
    pub(super) const fn new(journal: &'a mut TrialJournal, watcher: &'a mut SweepWatcher<'w>) -> Self {
        Self { journal, watcher, best: None, done: 0, total: 0, is_stopped: false }
    }

    pub(super) fn record(&mut self, line: &[u8], row: &TrialRow, work: u64) -> Result<(), SearchError> {
        self.journal.append(line)?;
        self.count(row, work);
        let progress = SweepProgress { done: self.done, total: self.total, best: self.best.as_ref() };
        self.is_stopped |= (self.watcher)(&progress).is_break();
        Ok(())
    }

    pub(super) fn count(&mut self, row: &TrialRow, work: u64) {
        self.done += work;
        let is_better = match &self.best {
            None => row.score.is_some(),
            Some(best) => compare_rows(row, best) == Ordering::Less,
        };
        if is_better {
            self.best = Some(row.clone());
        }
    }
}

/// Locks a mutex. Poisoning is ignored, because a panic under the lock has already ended the sweep.
pub(super) fn lock<T>(tracker: &Mutex<T>) -> MutexGuard<'_, T> {
    tracker.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{figures, row};
    use super::*;
    use serde_json::json;

    #[test]
    fn correction_counts_every_tested_set() {
        let p_values = [Some(0.01), None, Some(0.5), Some(0.02), Some(0.04)];
        let tested = |(trial, p_value): (u64, Option<f64>)| {
            row(trial, Some(figures(json!({ "p_value": p_value }))), None)
        };
        let rows: Vec<TrialRow> = (0..).zip(p_values).map(tested).collect();
        // 0.01 x 4/1, 0.02 x 4/2, 0.04 x 4/3 and 0.5 x 4/4, each at most as large as its successors.
        let expected = [Some(0.04), None, Some(0.5), Some(0.04), Some(0.04 * 4.0 / 3.0)];
        for (found, expected) in corrected_p_values(&rows).into_iter().zip(expected) {
            match (found, expected) {
                (Some(found), Some(expected)) => {
                    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
                }
                _ => assert_eq!(found, expected),
            }
        }
    }
}
