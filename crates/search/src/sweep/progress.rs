//! Progress of a sweep: the journal, the best trial so far and the watcher callback.

use super::TrialJournal;
use super::trial_row::{TrialRow, better_first};
use crate::SearchError;
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Clone, Copy, Debug)]
pub struct SweepProgress<'a> {
    /// Completed work, in thousandths of a trial over all candles.
    pub done: u64,
    pub total: u64,
    pub best: Option<&'a TrialRow>,
}

/// Callback after every trial.
///
/// [`ControlFlow::Break`] ends the sweep once the trials in flight are done.
pub type Watcher<'a> = dyn FnMut(&SweepProgress<'_>) -> ControlFlow<()> + Send + 'a;

pub(super) struct ProgressTracker<'a, 'w> {
    pub(super) journal: &'a mut TrialJournal,
    watcher: &'a mut Watcher<'w>,
    best: Option<TrialRow>,
    done: u64,
    pub(super) total: u64,
    pub(super) is_stopped: bool,
}

impl<'a, 'w> ProgressTracker<'a, 'w> {
    pub(super) const fn new(journal: &'a mut TrialJournal, watcher: &'a mut Watcher<'w>) -> Self {
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
            Some(best) => better_first(row, best) == Ordering::Less,
        };
        if is_better {
            self.best = Some(row.clone());
        }
    }
}

/// Ignores poisoning: a thread that panicked with the lock already ended the sweep.
pub(super) fn lock<T>(tracker: &Mutex<T>) -> MutexGuard<'_, T> {
    tracker.lock().unwrap_or_else(PoisonError::into_inner)
}
