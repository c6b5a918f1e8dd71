//! How far a sweep is: the journal, the best set so far, and whoever watches.

use super::TrialJournal;
use super::trial_row::{TrialRow, better_first};
use crate::SearchError;
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How far a sweep is.
#[derive(Clone, Copy, Debug)]
pub struct SweepProgress<'a> {
    /// Work done, in thousandths of a trial over all candles.
    pub done: u64,
    /// Work in all, as far as it is known.
    pub total: u64,
    /// The best trial so far that counts.
    pub best: Option<&'a TrialRow>,
}

/// Is called after every trial. [`ControlFlow::Break`] ends the sweep once the trials under way have run.
pub type Watcher<'a> = dyn FnMut(&SweepProgress<'_>) -> ControlFlow<()> + Send + 'a;

/// What changes while trials run, shared by the threads behind a lock.
pub(super) struct ProgressTracker<'a, 'w> {
    pub(super) journal: &'a mut TrialJournal,
    watcher: &'a mut Watcher<'w>,
    best: Option<TrialRow>,
    done: u64,
    pub(super) total: u64,
    pub(super) is_stopped: bool,
}

impl<'a, 'w> ProgressTracker<'a, 'w> {
    /// Before any trial ran.
    pub(super) const fn new(journal: &'a mut TrialJournal, watcher: &'a mut Watcher<'w>) -> Self {
        Self { journal, watcher, best: None, done: 0, total: 0, is_stopped: false }
    }

    /// Writes a trial that has just run to the journal, and calls the watcher.
    pub(super) fn record(&mut self, line: &[u8], row: &TrialRow, work: u64) -> Result<(), SearchError> {
        self.journal.append(line)?;
        self.count(row, work);
        let progress = SweepProgress { done: self.done, total: self.total, best: self.best.as_ref() };
        self.is_stopped |= (self.watcher)(&progress).is_break();
        Ok(())
    }

    /// Counts a trial that has run.
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

/// Locks it. A thread that panicked while it held the lock has ended the sweep already.
pub(super) fn lock<T>(tracker: &Mutex<T>) -> MutexGuard<'_, T> {
    tracker.lock().unwrap_or_else(PoisonError::into_inner)
}
