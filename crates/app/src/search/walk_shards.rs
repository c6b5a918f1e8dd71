//! Shards of a walk-forward: the training trials of each window, spread over machines.

use super::plan::{OtherProgram, PlanDifferences, PlannedWalk, SearchPlan};
use super::walk::{WalkProgress, WalkRun, WalkWatcher, of_window};
use crate::bots::error_of_search;
use crate::error::AppError;
use candlewick_search::SearchError;
use candlewick_search::sweep::{Shard, SweepEnd, SweepProgress};
use std::num::NonZeroU64;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkShard {
    Done { trials: usize, resumed: usize, notice: Option<String> },
    Stopped,
}

/// A shard of one window (0-based).
struct Part {
    window: usize,
    shard: Shard,
}

impl WalkRun<'_> {
    /// Cuts the trials into at least `shards` shards, the same number per window.
    ///
    /// A learning search has one shard per window, because each of its sets depends on earlier
    /// trials.
    pub fn plan(&self, shards: NonZeroU64) -> Result<SearchPlan, AppError> {
        let search = &self.prepared.sweep.search;
        let sets = search.most_sets(&self.prepared.space).map_err(|error| self.failure(error))?;
        let windows = self.windows.len() as u64;
        let parts = if search.search.learns() { 1 } else { shards.get().div_ceil(windows.max(1)) };
        let walk = PlannedWalk { layout: self.asked.clone(), windows };
        let cut = (sets, windows * parts, Some(walk));
        SearchPlan::new(cut, (self.terms, self.prepared), self.identity.clone())
    }

    pub fn check(&self, plan: &SearchPlan, others: OtherProgram) -> Result<PlanDifferences, AppError> {
        plan.check((self.prepared, &self.identity), others)
    }

    pub fn run_shard(
        &self,
        plan: &SearchPlan,
        number: u64,
        watcher: &mut WalkWatcher<'_>,
    ) -> Result<WalkShard, AppError> {
        let Part { window: place, shard } = self.part(plan, number)?;
        // Shards count as the walk whose parts they are, until they are merged.
        self.begin()?;
        let window = &self.windows[place];
        let identity = of_window(&self.identity, window);
        plan.bring(&self.folder, number)?;
        let opened = plan.journal(&self.folder, number, &identity);
        let (mut journal, known) = opened.map_err(|error| self.failure(error))?;
        let resumed = known.len();
        let windows = self.windows.len();
        let mut watch = |now: &SweepProgress<'_>| {
            watcher(WalkProgress { done: now.done, total: now.total, window: place + 1, windows })
        };
        let end = self.walk.search_part((window, shard), (&mut journal, known), &mut watch);
        let rows = match end.map_err(|error| self.failure(error))? {
            SweepEnd::Done(rows) => rows,
            SweepEnd::Stopped(_) => return Ok(WalkShard::Stopped),
        };
        let notice = plan.keep(&self.folder, number)?;
        Ok(WalkShard::Done { trials: rows.len(), resumed, notice })
    }

    /// Loads the trials of all shards.
    ///
    /// [`run`](Self::run) then runs the rest: upper rungs, tests, neighbours and the training of an
    /// opened hold-out.
    pub fn gather(&mut self, plan: &SearchPlan, others: OtherProgram) -> Result<Vec<String>, AppError> {
        let mut notices = Vec::new();
        let mut gathered = vec![Vec::new(); self.windows.len()];
        for number in 1..=plan.shards {
            let part = self.part(plan, number)?;
            let window = &self.windows[part.window];
            let planned = of_window(&plan.sweep, window);
            let trials = if self.walk.has_candles(window) { self.expected(plan, &part) } else { 0..0 };
            let to_error = |error: SearchError| self.failure(error);
            let one = plan.gather_shard((&self.folder, &planned), (number, trials), others, &to_error)?;
            gathered[part.window].extend(one.records);
            notices.extend(one.notice);
        }
        self.gathered = gathered;
        Ok(notices)
    }

    /// A learning search may run out of new sets early, so only its first trial is required.
    fn expected(&self, plan: &SearchPlan, part: &Part) -> Range<u64> {
        if self.prepared.sweep.search.search.learns() { 0..1 } else { part.shard.trials(plan.sets) }
    }

    fn part(&self, plan: &SearchPlan, number: u64) -> Result<Part, AppError> {
        let windows = self.windows.len() as u64;
        if windows == 0 || !plan.shards.is_multiple_of(windows) {
            let problem = format!("the plan has {} shards, and there are {windows} windows", plan.shards);
            return Err(AppError::invalid(problem).help("make it anew with walk-forward plan"));
        }
        // That there is such a shard is said of the plan, not of the window.
        Shard::new(number, plan.shards).map_err(|error| self.failure(error))?;
        let parts = plan.shards / windows;
        let shard = Shard::new((number - 1) % parts + 1, parts).map_err(|error| self.failure(error))?;
        let window = usize::try_from((number - 1) / parts).expect("there are that many windows");
        Ok(Part { window, shard })
    }

    fn failure(&self, error: SearchError) -> AppError {
        error_of_search(error, &self.prepared.loaded)
    }
}
