//! The desk of a sweep: the journal, the best set so far, and whoever watches.

use super::run::better_first;
use super::{TrialJournal, TrialRow};
use candlewick_backtest::BacktestError;
use std::cmp::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How far a sweep is.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// Work done, in thousandths of a trial over all candles.
    pub done: u64,
    /// Work in all, as far as it is known.
    pub total: u64,
    /// The best trial so far that counts.
    pub best: Option<&'a TrialRow>,
}

/// What a watcher wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// More.
    GoOn,
    /// An end, as soon as the trials that run have run.
    Stop,
}

/// Is told after every trial.
pub type Watcher<'a> = dyn FnMut(&Standing<'_>) -> Wish + Send + 'a;

/// What changes while trials run; whoever ends one has it for a moment.
pub(super) struct Desk<'a, 'w> {
    pub(super) journal: &'a mut TrialJournal,
    watcher: &'a mut Watcher<'w>,
    best: Option<TrialRow>,
    done: u64,
    pub(super) total: u64,
    pub(super) wish: Wish,
}

impl<'a, 'w> Desk<'a, 'w> {
    /// Before anything ran.
    pub(super) const fn new(journal: &'a mut TrialJournal, watcher: &'a mut Watcher<'w>) -> Self {
        Self { journal, watcher, best: None, done: 0, total: 0, wish: Wish::GoOn }
    }

    /// Writes down what ran just now, and tells the watcher.
    pub(super) fn keep(&mut self, line: &[u8], row: &TrialRow, work: u64) -> Result<(), BacktestError> {
        self.journal.append(line)?;
        self.count(row, work);
        self.tell();
        Ok(())
    }

    /// Counts what has run.
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

    fn tell(&mut self) {
        let standing = Standing { done: self.done, total: self.total, best: self.best.as_ref() };
        if (self.watcher)(&standing) == Wish::Stop {
            self.wish = Wish::Stop;
        }
    }
}

/// Takes it for a moment.
pub(super) fn lock<T>(desk: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whoever panicked with it has ended the sweep.
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}
